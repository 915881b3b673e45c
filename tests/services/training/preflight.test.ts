import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeDataset } from '../../../main/services/datasets/index.ts';
import { refreshCheckpoints } from '../../../main/services/runs/history.ts';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import type { LaunchTrainer } from '../../../main/services/trainer-process/channel.ts';
import { knownEstimate } from '../../../main/services/training/known-estimates.ts';
import { openLiveRuns } from '../../../main/services/training/live-runs.ts';
import { type Preflight, preflight } from '../../../main/services/training/preflight.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import type { JobContext } from '../../../main/services/workspace/jobs.ts';
import { readSettings } from '../../../main/services/workspace/settings.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

/** Two records whose second words the tiny model has no token for. */
function foreign() {
  const record = (id: string, word: string) => ({
    id,
    words: 1,
    title_a: 'A',
    title_b: 'B',
    fragment_a: word,
    fragment_b: 'мир',
    ...{ prompt: `<a> ${word} <b> мир <out> ${word}`, target: `${word} мир` },
  });
  return { train: [record('1', 'wa'), record('2', 'wb')], test: [record('3', 'wc')] };
}

async function bench() {
  const world = await tinyWorkspace();
  const { store, paths, root } = world;
  const live = openLiveRuns(store, { paths, changes: openChanges(), settings: () => readSettings(store) });
  const workers = openTextWorkers(paths.textWorker);
  onTestFinished(() => workers.close());
  const desk = { store, paths, live, workspace: openWorkspace({ workspace: root }), library: { workers } };
  const context: JobContext = { signal: new AbortController().signal, progress: () => undefined };
  const look = (changes: object, given = context, app = desk) =>
    preflight(app, () => world.config(changes), null, given);
  /** Some steps with a checkpoint each, and trainers that find what they start from dropped, so many times. */
  const dropping = async (times: number) => {
    const first = startTraining(store, world.config({ method: 'sft', max_steps: 3, save_steps: 1 }), {
      paths,
      name: 'before',
    });
    expect((await first.outcome).state).toBe('done');
    let left = times;
    const trainer: LaunchTrainer = (env) => {
      const channel = paths.trainer(env);
      const post: typeof channel.post = (message) => {
        if (message.kind === 'preflight' && left-- > 0)
          rmSync(message.config.from_checkpoint ?? '', { recursive: true });
        channel.post(message);
      };
      return { ...channel, post };
    };
    return { runId: first.runId, app: { ...desk, paths: { ...paths, trainer } } };
  };
  return { ...world, look, context, dropping };
}

const failures = ({ checks }: Preflight) => checks.filter(({ status }) => status === 'FAIL');

describe('preflight', () => {
  it('lists what a run needs besides, each thing once: what was measured in place of what was estimated', async () => {
    const { look } = await bench();
    const names = (await look({})).checks.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(
      expect.arrayContaining(['Rewards differ', 'Time', 'Model', 'Dataset', 'Held out', 'Disjoint', 'Reward']),
    );
    const refused = await look({ reward_weights: [1, 2] });
    expect(failures(refused)).toMatchObject([
      { name: 'Start' },
      { name: 'Reward', next: expect.stringContaining('[1]') },
    ]);
    expect(refused.checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['Memory', 'Disk']));
  });

  it('fails, with all its findings, where the model has no tokens for the targets', async () => {
    const { look, root } = await bench();
    const dataset = writeDataset(join(root, 'datasets', 'foreign.jsonl'), foreign()).train;
    const report = await look({ dataset });
    expect(failures(report)).toMatchObject([{ name: 'Words', detail: expect.stringContaining('"мир"') }]);
    expect(report.checks.map(({ name }) => name)).toContain('Time');
    expect(failures(await look({ dataset, allow_unwritable_words: true }))).toEqual([]);
  });

  it('samples the first groups with the settings of the run, and leaves nothing behind', async () => {
    const { store, look } = await bench();
    const progress: number[] = [];
    const signal = new AbortController().signal;
    const report = await look({}, { signal, progress: ({ done }) => void progress.push(done) });
    // Two generations: a few groups are sampled even where the first one teaches.
    expect(report.sampled?.groups.map((group) => group.length)).toEqual([4, 4, 4, 4]);
    expect(report.advice).toMatchObject({ do: 'warm_up', warm_up_steps: 4, baseline: { groups: 4 } });
    const { best, worst } = report.sampled ?? {};
    expect(best?.reward).toBeGreaterThanOrEqual(worst?.reward ?? 2);
    expect(report.secondsPerStep).toBeGreaterThan(0);
    expect(report.checks.map(({ name }) => name)).toContain('Memory');
    expect(progress.at(-1)).toBe(4);
    expect(store.runs.list()).toEqual([]);
  });

  it('samples more groups before it says that none has a signal', async () => {
    const { look } = await bench();
    const report = await look({ top_k: 1 });
    expect(report.sampled?.groups.map((group) => group.length)).toEqual([4, 4, 4, 4, 4, 4]);
    expect(report.checks.find(({ name }) => name === 'Rewards differ')).toMatchObject({ status: 'FAIL' });
    expect(report.advice).toMatchObject({ do: 'warm_up', baseline: { groups: 6, differing: 0 } });

    const warm = await look({ top_k: 1, warm_up_steps: report.advice?.warm_up_steps, warm_up_batch_size: 2 });
    expect(failures(warm)).toEqual([]);
    expect(warm.advice).toMatchObject({ do: 'start', sentence: expect.stringContaining('come first') });
    expect(warm.checks.find(({ name }) => name === 'Time')?.detail).toContain('of the warm-up of');
  });

  it('hands its estimate on to the run', async () => {
    const { store, paths, config, look } = await bench();
    const report = await look({ max_steps: 3 });
    // The curriculum asks for it by what is planned, whose paths aren't resolved.
    expect(knownEstimate(store, config())?.secondsPerStep).toBe(report.secondsPerStep);
    const run = startTraining(store, config({ max_steps: 4 }), { paths });
    expect((await run.outcome).state).toBe('done');
    const estimate = store.events.ofRun(run.runId).find(({ kind }) => kind === 'estimate');
    expect(estimate?.data).toMatchObject({ secondsPerStep: report.secondsPerStep });
    const other = startTraining(store, config({ max_steps: 3, seed: 7 }), { paths });
    await other.outcome;
    const own = store.events.ofRun(other.runId).find(({ kind }) => kind === 'estimate');
    expect(own?.data).not.toMatchObject({ secondsPerStep: report.secondsPerStep });
  });

  it('checks supervised runs too, which have no rewards and micro-batches of any size', async () => {
    const { look } = await bench();
    for (const method of ['sft', 'polychromic-sft']) {
      const report = await look({ method, per_device_train_batch_size: 3, num_generations: 4 });
      expect(report.sampled).toBeNull();
      const names = report.checks.map(({ name }) => name);
      expect(names).toContain('Memory');
      expect(names).not.toContain('Rewards differ');
    }
  });

  it('reports why a start would fail, and throws only when cancelled', async () => {
    const { look } = await bench();
    const report = await look({ max_completion_length: 1, warm_up_steps: 1 });
    expect(report.sampled).toBeNull();
    expect(failures(report)).toMatchObject([
      { name: 'Start', detail: expect.stringContaining('max_completion_length') },
    ]);
    const missing = await look({ dataset: '/no/such.jsonl' });
    expect(failures(missing)).toMatchObject([{ name: 'Dataset', detail: expect.stringContaining('/no/such.jsonl') }]);
    const ended = { signal: AbortSignal.abort(), progress: () => undefined };
    await expect(look({}, ended)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('takes the name of a run for its newest checkpoint', async () => {
    const { store, paths, look, config } = await bench();
    const first = startTraining(store, config({ method: 'sft', max_steps: 1 }), { paths, name: 'baseline/seed_1' });
    expect((await first.outcome).state).toBe('done');
    const report = await look({ from_checkpoint: 'baseline/seed_1' });
    expect(report.checks.map(({ name }) => name)).toContain('Memory');
    const unknown = await look({ from_checkpoint: 'baseline/seed_2' });
    expect(failures(unknown)).toMatchObject([
      { name: 'Warm start', detail: expect.stringContaining('no run named "baseline/seed_2"') },
    ]);
  });

  it('uses the newest existing checkpoint if one was deleted during the check', async () => {
    const { store, look, context, dropping } = await bench();
    const { runId, app } = await dropping(1);
    const report = await look({ from_checkpoint: 'before' }, context, app);
    expect(report.checks.map(({ name }) => name)).toContain('Memory');
    const there = refreshCheckpoints(store, runId).filter(({ deletedAt }) => deletedAt === null);
    expect(there.map(({ step }) => step)).toEqual([1, 2]);
  });

  it('says in plain words that a checkpoint is gone, and what to start from instead', async () => {
    const { store, look, context, dropping } = await bench();
    const { runId, app } = await dropping(1);
    const chosen = refreshCheckpoints(store, runId).at(-1)?.path;
    const report = await look({ from_checkpoint: chosen }, context, app);
    expect(failures(report)).toContainEqual(
      expect.objectContaining({
        name: 'Warm start',
        detail: 'The checkpoint of step 3 of before no longer exists; the run keeps at most 3 (save_total_limit)',
        next: 'Start from step 2.',
      }),
    );
  });

  it('gives up if every checkpoint is deleted during the check', async () => {
    const { look, context, dropping } = await bench();
    const { app } = await dropping(3);
    const report = await look({ from_checkpoint: 'before' }, context, app);
    expect(failures(report)).toContainEqual(
      expect.objectContaining({
        detail: 'The checkpoint of step 1 of before no longer exists; the run keeps at most 3 (save_total_limit)',
        next: 'It has none now.',
      }),
    );
  });
});
