import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newestCheckpoint } from '../../main/services/run-history.ts';
import { resumeTraining, startTraining } from '../../main/services/training.ts';
import { braid } from '../commands/braid.ts';
import { leftBy, tinyWorkspace } from '../services/tiny-workspace.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';

const config = { max_steps: 6, save_steps: 2, save_total_limit: null };

function change(file: string, edit: (value: Record<string, unknown>) => unknown): void {
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, 'utf8')))));
}

describe('a checkpoint that is not as its run left it', () => {
  it('is refused with its file named, nothing lost, and the run resumable', { timeout: 240_000 }, async () => {
    const { store, root, paths, dataset, config: make } = await tinyWorkspace();
    const { outcome } = startTraining(store, make(config), { paths });
    const { runId } = await outcome;
    const expected = leftBy(store, runId, true);
    const folder = join(root, store.runs.get(runId)?.folder ?? '', 'checkpoint-2');
    const other = await startTraining(store, make({ ...config, max_steps: 2, lora_r: 3, seed: 5 }), { paths }).outcome;
    const foreign = (name: string) => cpSync(join(other.checkpoint ?? '', name), join(folder, name));
    const copy = `${folder}.copy`;
    cpSync(folder, copy, { recursive: true });
    const texts = readFileSync(dataset, 'utf8');

    const cases: readonly [string, () => void, RegExp][] = [
      [
        'weights cut short',
        () => truncateSync(join(folder, 'adapter_model.safetensors'), 700),
        /adapter_model\.safetensors: the file is cut short/,
      ],
      [
        'moments cut short',
        () => truncateSync(join(folder, 'optimizer.safetensors'), 2000),
        /optimizer\.safetensors: the file is cut short/,
      ],
      ['moments of another shape', () => foreign('optimizer.safetensors'), /Expected \d+ values of "exp_avg/],
      ['weights of another shape', () => foreign('adapter_model.safetensors'), /expected "[^"]+" of shape \[2, 16\]/],
      ['no state', () => rmSync(join(folder, 'rng.json')), /rng\.json/],
      ['no JSON', () => writeFileSync(join(folder, 'rng.json'), '{"seed": 4'), /rng\.json/],
      [
        'foreign JSON',
        () => writeFileSync(join(folder, 'rng.json'), '[1]'),
        /rng\.json: not the state of a checkpoint/,
      ],
      ['a state of another run', () => foreign('rng.json'), /rng\.json: expected "seed" 42, got 5/],
      [
        'a state of another step',
        () => change(join(folder, 'rng.json'), (state) => ({ ...state, step: 3 })),
        /rng\.json: expected "step" 2 as in trainer_state\.json, got 3/,
      ],
      [
        'a generation of another vocabulary',
        () =>
          change(join(folder, 'rng.json'), (state) => ({
            ...state,
            generation: { number: 0, completions: [{ ids: [99], terminated: true }], oldLogps: null },
          })),
        /rng\.json: expected completions of tokens below 32, got token 99/,
      ],
      [
        'another dataset',
        () => writeTinyDataset(dataset, { vocabulary: 9 }),
        /expected the dataset that the run began with/,
      ],
    ];
    for (const [name, spoil, message] of cases) {
      spoil();
      const { error, state } = await resumeTraining(store, runId, { paths, checkpoint: { step: 2, path: folder } })
        .outcome;
      expect({ name, kind: error?.kind, state }).toEqual({ name, kind: 'input', state: 'failed' });
      expect(error?.message).toMatch(message);
      expect({ ...leftBy(store, runId, true), state: 'done' }).toEqual(expected);
      expect(newestCheckpoint(store, runId)?.step).toBe(6);
      rmSync(folder, { recursive: true });
      cpSync(copy, folder, { recursive: true });
      writeFileSync(dataset, texts);
    }

    truncateSync(join(folder, 'optimizer.safetensors'), 2000);
    const refused = await braid(['train', '--resume', folder, '--workspace', root]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('optimizer.safetensors') });
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });
    const resumed = await braid(['train', '--resume', folder, '--workspace', root]);
    expect(resumed.code).toBe(0);
    expect(leftBy(store, runId, true)).toEqual(expected);
  });
});
