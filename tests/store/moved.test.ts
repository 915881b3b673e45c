import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addRun } from './helpers.ts';

/** A run whose dataset lies in the workspace, and whose model beside it in a folder of a similar name. */
function workspaceWithRun() {
  const root = temporaryFolder();
  const place = join(root, 'my "work"');
  const model = join(root, 'my "work"-models', 'mine');
  mkdirSync(place);
  const store = openStore(join(place, 'braid.db'));
  const dataset = join(place, 'datasets', 'mine.jsonl');
  const runId = addRun(store, { dataset, model, configJson: JSON.stringify({ model, dataset }) });
  store.close();
  const read = (folder: string) => {
    const again = openStore(join(folder, 'braid.db'));
    const run = again.runs.get(runId);
    again.close();
    return { dataset: run?.dataset, model: run?.model, config: JSON.parse(run?.configJson ?? '') };
  };
  return { root, place, dataset, model, read };
}

describe('followMove', () => {
  it('makes paths into a workspace lead to where it was moved, and leaves others', () => {
    const { root, place, model, read } = workspaceWithRun();
    const moved = join(root, 'moved');
    renameSync(place, moved);
    const dataset = join(moved, 'datasets', 'mine.jsonl');
    expect(read(moved)).toEqual({ dataset, model, config: { model, dataset } });
  });

  it('leaves a workspace as it is that is opened by a link to it', () => {
    const { root, place, dataset, read } = workspaceWithRun();
    const link = join(root, 'link');
    symlinkSync(place, link, 'junction');
    expect(read(link).dataset).toBe(dataset);
    expect(read(place).dataset).toBe(dataset);
  });
});
