import fs, { copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { finishRun } from '../../../main/services/runs/runs.ts';
import { resumeTraining, startTraining } from '../../../main/services/training/training.ts';
import { refusedAtFirst } from '../../as-windows.ts';
import { errorOf } from '../../store/helpers.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { writeTask } from '../tasks/task-folder.ts';
import { type TinyWorkspace, tinyWorkspace } from '../tiny-workspace.ts';

/** Renames are refused, as on Windows while a file of the folder is open. */
function refuseRenames(): void {
  const renameSync = vi.spyOn(fs, 'renameSync');
  renameSync.mockImplementation(refusedAtFirst(fs.renameSync, 'EBUSY', Number.POSITIVE_INFINITY));
  syncBuiltinESMExports();
  onTestFinished(() => {
    renameSync.mockRestore();
    syncBuiltinESMExports();
  });
}

describe('startTraining', () => {
  it('refuses reward weights that fit no reward before there is a run, and says what to write', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const refused = (reward_weights: number[]) => () => startTraining(store, config({ reward_weights }), { paths });
    expect(refused([1, 2, 3])).toThrow(
      expect.objectContaining({
        ...{
          code: 'BAD_CONFIG',
          kind: 'input',
          message: expect.stringContaining('one for each reward (alignment), got 3'),
        },
        remedy: 'Write reward_weights: [1] for alignment in this order, or leave it out: each weighs 1.',
      }),
    );
    expect(refused([])).toThrow(/got 0$/);
    expect(refused([0])).toThrow(/every reward would be 0/);
    expect(store.runs.list()).toEqual([]);
  });

  it('refuses a run whose first checkpoint would not fit on the disk, before anything is stored', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const statfsSync = vi.spyOn(fs, 'statfsSync');
    const bytes = (free: number, total: number): void => {
      statfsSync.mockReturnValue({ bavail: free, blocks: total, bsize: 1 } as fs.StatsFs);
      syncBuiltinESMExports();
    };
    onTestFinished(() => {
      statfsSync.mockRestore();
      syncBuiltinESMExports();
    });
    bytes(1000, 2 ** 30);
    expect(errorOf(() => startTraining(store, config(), { paths }))).toMatchObject({
      code: 'DISK_FULL',
      kind: 'runtime',
    });
    expect(store.runs.list()).toEqual([]);
    // As a file system that says nothing.
    bytes(0, 0);
    expect(await startTraining(store, config({ max_steps: 1 }), { paths }).outcome).toMatchObject({ state: 'done' });
  });

  it('keeps a refused run as failed, with the reason, where its folder is in use', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { runId, outcome } = startTraining(store, config({ max_steps: 1, system_prompt: 'wa wb' }), { paths });
    refuseRenames();
    const error = { code: 'NO_CHAT_TEMPLATE', kind: 'input' };
    expect(await outcome).toMatchObject({ state: 'failed', kept: true, error });
    expect(store.runs.get(runId)).toMatchObject({ state: 'failed', reason: expect.stringContaining('chat template') });
  });

  it('stores nothing where a reward model is damaged', async () => {
    const { store, paths, root, config } = await tinyWorkspace();
    const classifier = join(root, 'models', 'rm');
    const fixture = (name: string): string => resolve(import.meta.dirname, '../../parity/fixtures', name);
    cpSync(fixture('classifiers/llama'), classifier, { recursive: true });
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      copyFileSync(join(fixture('bert'), file), join(classifier, file));
    writeFileSync(join(classifier, 'model.safetensors'), 'damaged');
    writeTask(join(root, 'tasks'), 'mix', {
      'task.yaml': `title: Mixed
fields: { fragment_a: text, fragment_b: text }
prompt: 'Say {fragment_a}'
target: '{fragment_a}'
success_threshold: 1
rewards: { said: 1, helpful: { weight: 0.1, classifier: models/rm } }
`,
      'reward.ts': 'export const reward = () => ({ said: 1 });',
    });
    expect(() => startTraining(store, config({ task: 'mix' }), { paths })).toThrow('model.safetensors');
    expect(store.runs.list()).toEqual([]);
    expect(readdirSync(join(root, 'outputs'))).toEqual([]);
  });

  const neverStarts = (): never => {
    throw new Error('spawn EAGAIN');
  };
  /** A process that can't take its job, such as one larger than a message may be. */
  const deaf = (killed: () => void) => () => ({
    pid: 1,
    stderr: null,
    onMessage: () => undefined,
    onExit: () => undefined,
    post: neverStarts,
    kill: killed,
  });
  const withTrainer = ({ paths }: TinyWorkspace, trainer: TinyWorkspace['paths']['trainer']) => ({
    paths: { ...paths, trainer },
  });

  it('ends a run whose process cannot start as failed, with the reason', async () => {
    const world = await tinyWorkspace();
    const { runId, outcome } = startTraining(world.store, world.config(), withTrainer(world, neverStarts));
    expect(await outcome).toMatchObject({ state: 'failed', kept: true, error: { code: 'TRAINER_NOT_STARTED' } });
    expect(world.store.runs.get(runId)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('spawn EAGAIN'),
    });
    finishRun(world.store, runId, 'stopped');
    const again = resumeTraining(world.store, runId, withTrainer(world, neverStarts));
    expect(await again.outcome).toMatchObject({ state: 'interrupted', error: { code: 'TRAINER_NOT_STARTED' } });
    finishRun(world.store, runId, 'done');
    const longer = resumeTraining(world.store, runId, withTrainer(world, neverStarts));
    expect(await longer.outcome).toMatchObject({ state: 'done', error: { code: 'TRAINER_NOT_STARTED' } });
  });

  it('leaves a stopped run stopped where its trainer refuses to resume it', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { runId } = await startTraining(store, config({ max_steps: 1 }), { paths }).outcome;
    finishRun(store, runId, 'stopped', 'Stopped on request');
    writeTinyDataset(config().dataset, { vocabulary: 9 });
    const { error, state } = await resumeTraining(store, runId, { paths, maxSteps: 2 }).outcome;
    expect({ code: error?.code, state }).toEqual({ code: 'OTHER_DATASET', state: 'stopped' });
    expect(store.runs.get(runId)).toMatchObject({ state: 'stopped', reason: 'Stopped on request' });
    expect(store.events.ofRun(runId).at(-1)).toMatchObject({ kind: 'failed', message: error?.message });
  });

  it('kills a process that cannot be given its job, and ends the run', async () => {
    const world = await tinyWorkspace();
    const killed = vi.fn();
    const { outcome } = startTraining(world.store, world.config(), withTrainer(world, deaf(killed)));
    expect(await outcome).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('EAGAIN') } });
    expect(killed).toHaveBeenCalledOnce();
  });

  it('stores what belongs to the run with it, or neither', async () => {
    const { store, paths, root, config } = await tinyWorkspace();
    const onStored = (): void => {
      store.settings.set('seen', 1);
      throw new Error('no');
    };
    expect(errorOf(() => startTraining(store, config(), { paths, onStored }))).toMatchObject({ message: 'no' });
    expect([store.runs.list(), store.settings.get('seen')]).toEqual([[], undefined]);
    expect(readdirSync(join(root, 'outputs'))).toEqual([]);
  });
});
