import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKSUMS } from '../../main/model/checksums.ts';
import { datasetFiles } from '../../main/services/datasets/files.ts';
import { resolveModelParts } from '../../main/services/models/resolve.ts';
import { newestCheckpoint } from '../../main/services/runs/history.ts';
import { runTrainerJob } from '../../main/services/trainer-process/job.ts';
import { resumeTraining, startTraining } from '../../main/services/training/training.ts';
import { braid } from '../commands/braid.ts';
import { leftBy, tinyWorkspace } from '../services/tiny-workspace.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';

const config = { max_steps: 6, save_steps: 2, save_total_limit: null };

function change(file: string, edit: (value: Record<string, unknown>) => unknown): void {
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, 'utf8')))));
}

describe('a checkpoint that is not as its run left it', () => {
  it('is rejected with its file named, nothing lost, and the run resumable', { timeout: 240_000 }, async () => {
    const { store, root, paths, dataset, config: make } = await tinyWorkspace();
    const { outcome } = startTraining(store, make(config), { paths });
    const { runId } = await outcome;
    const expected = leftBy(store, runId, true);
    const folder = join(root, store.runs.get(runId)?.folder ?? '', 'checkpoint-2');
    const other = await startTraining(store, make({ ...config, max_steps: 2, lora_r: 3, seed: 5 }), { paths }).outcome;
    const foreign = (name: string) => cpSync(join(other.checkpoint ?? '', name), join(folder, name));
    const copy = `${folder}.copy`;
    cpSync(folder, copy, { recursive: true });
    const files = Object.values(datasetFiles(dataset)).map((file) => [file, readFileSync(file, 'utf8')] as const);

    const cases: readonly [string, () => void, RegExp][] = [
      [
        'truncated weights',
        () => truncateSync(join(folder, 'adapter_model.safetensors'), 700),
        /adapter_model\.safetensors: the file is truncated/,
      ],
      [
        'truncated moments',
        () => truncateSync(join(folder, 'optimizer.safetensors'), 2000),
        /optimizer\.safetensors: the file is truncated/,
      ],
      ['moments of another shape', () => foreign('optimizer.safetensors'), /Expected \d+ values of "exp_avg/],
      ['weights of another shape', () => foreign('adapter_model.safetensors'), /expected "[^"]+" of shape \[2, 16\]/],
      ['no state', () => rmSync(join(folder, 'rng.json')), /rng\.json/],
      ['no JSON', () => writeFileSync(join(folder, 'rng.json'), '{"seed": 4'), /rng\.json/],
      ['foreign JSON', () => writeFileSync(join(folder, 'rng.json'), '[1]'), /rng\.json: not a valid checkpoint state/],
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
      ['another dataset', () => writeTinyDataset(dataset, { vocabulary: 9 }), /expected the run's original dataset/],
    ];
    for (const [name, spoil, message] of cases) {
      spoil();
      // As checkpoints were before they had a list of digests: what can be seen without one is refused still.
      rmSync(join(folder, CHECKSUMS));
      const { error, state } = await resumeTraining(store, runId, { paths, checkpoint: { step: 2, path: folder } })
        .outcome;
      expect({ name, kind: error?.kind, state }).toEqual({ name, kind: 'input', state: 'done' });
      expect(error?.message).toMatch(message);
      expect(leftBy(store, runId, true)).toEqual(expected);
      expect(newestCheckpoint(store, runId)?.step).toBe(6);
      rmSync(folder, { recursive: true });
      cpSync(copy, folder, { recursive: true });
      for (const [file, text] of files) writeFileSync(file, text);
    }

    rmSync(join(folder, CHECKSUMS));
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

/** Damage that leaves a file readable, as disks and copies do it. */
const rot: readonly (readonly [what: string, name: string, damage: (bytes: Buffer) => Buffer])[] = [
  ['a flipped bit', 'adapter_model.safetensors', (bytes) => withByte(bytes, bytes.length - 9, (byte) => byte ^ 4)],
  ['a part of zeros', 'optimizer.safetensors', (bytes) => Buffer.concat([bytes.subarray(0, -64), Buffer.alloc(64)])],
  ['appended bytes', 'trainer_state.json', (bytes) => Buffer.concat([bytes, Buffer.from(' ')])],
  ['another token', 'tokenizer.json', (bytes) => Buffer.from(bytes.toString().replace('"wb"', '"wB"'))],
];

function withByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at] ?? 0);
  return copy;
}

describe('bit rot in a checkpoint', () => {
  it('is refused at resume, --from, evaluation and playground, with the newest whole checkpoint named', {
    timeout: 240_000,
  }, async () => {
    const { store, root, paths, dataset, config: make } = await tinyWorkspace();
    const { runId } = await startTraining(store, make(config), { paths }).outcome;
    const outputs = join(root, store.runs.get(runId)?.folder ?? '');
    const [middle, newest] = [join(outputs, 'checkpoint-4'), join(outputs, 'checkpoint-6')];
    const expected = leftBy(store, runId, true);
    const offered = { code: 'FILES_DAMAGED', remedy: expect.stringContaining(`is from step 6: use ${newest}.`) };
    for (const [what, name, damage] of rot) {
      const file = join(middle, name);
      const whole = readFileSync(file);
      writeFileSync(file, damage(whole));
      const { error, state } = await resumeTraining(store, runId, { paths, checkpoint: { step: 4, path: middle } })
        .outcome;
      expect({ what, state, error }).toEqual({
        what,
        state: 'done',
        error: expect.objectContaining({ ...offered, message: expect.stringContaining(`${file} is damaged`) }),
      });
      writeFileSync(file, whole);
    }
    expect(leftBy(store, runId, true)).toEqual(expected);

    const weights = join(middle, 'adapter_model.safetensors');
    writeFileSync(
      weights,
      withByte(readFileSync(weights), 2000, (byte) => byte ^ 1),
    );
    const from = await startTraining(store, make({ ...config, from_checkpoint: middle }), { paths }).outcome;
    expect(from).toMatchObject({ kept: false, error: offered });
    const model = resolveModelParts(middle, paths);
    const backend = { backend: 'wasm', threads: 1, kernelsFile: paths.kernels } as const;
    const asked = { beside: [], prompt: 'a b', quoted: [], target: 'a b', temperature: 0, seed: 1, maxNewTokens: 2 };
    await expect(runTrainerJob({ kind: 'generate', model, ...asked, ...backend }, paths.trainer)).rejects.toMatchObject(
      offered,
    );
    const evaluated = await braid(['evaluate', '--model', middle, '--dataset', dataset, '--workspace', root]);
    expect(evaluated).toMatchObject({ code: 2, stderr: expect.stringContaining(`${weights} is damaged`) });
    const resumed = await braid(['train', '--resume', middle, '--workspace', root]);
    expect(resumed).toMatchObject({ code: 2, stderr: expect.stringContaining(`use ${newest}`) });

    rmSync(join(middle, CHECKSUMS));
    const old = await startTraining(store, make({ ...config, max_steps: 1, from_checkpoint: middle }), { paths })
      .outcome;
    expect(old.state, 'a checkpoint of an earlier version, its weights finite').toBe('done');
  });

  it('says so where no checkpoint of the run is whole', { timeout: 120_000 }, async () => {
    const { store, root, paths, config: make } = await tinyWorkspace();
    const { runId, checkpoint } = await startTraining(store, make({ max_steps: 2 }), { paths }).outcome;
    writeFileSync(join(checkpoint ?? root, 'rng.json'), '{}');
    const { error } = await resumeTraining(store, runId, { paths, maxSteps: 3 }).outcome;
    expect(error).toMatchObject({ remedy: expect.stringContaining('No other checkpoint of this run is intact') });
  });
});
