import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkTask } from '../../../main/services/reward-trials/check-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { agreedTo, guessTask } from '../../tasks/openenv/served-task.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A folder with the task and one record. */
function folderOf(changes: Readonly<Record<string, unknown>>, more: readonly string[] = []) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'task.yaml'), guessTask(changes, more).definition);
  writeFileSync(join(folder, 'records.jsonl'), '{"id": "a", "seed": 4}\n');
  return readTaskFolder(folder);
}

describe('checkTask of a task that a server plays', () => {
  it('compares its forms with the schemas of the server, and resets it twice', () => {
    const source = folderOf({ action: { gues: '{completion:last-number}' } }, ['take']);
    const { faults, notes, external } = checkTask(source, '', () => agreedTo(source));
    expect(faults).toEqual([
      expect.stringContaining('environment.action has "gues"'),
      expect.stringContaining('environment.action lacks "guess"'),
    ]);
    expect(notes).toEqual([expect.stringContaining('it is not deterministic')]);
    expect(external).toEqual({ won: 'openenv' });
  });

  it('asks nothing of a server that was not agreed to, and says so', () => {
    const { ok, faults, notes } = checkTask(folderOf({}), '', () => null);
    expect([ok, faults]).toEqual([true, []]);
    expect(notes).toEqual([expect.stringMatching(/^The environment was not asked/)]);
  });
});
