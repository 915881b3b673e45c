import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toJsonLines } from '../../../../main/services/datasets/index.ts';
import { discardAfter, recordEvents } from '../../../../main/services/runs/events.ts';
import { createRun } from '../../../../main/services/runs/runs.ts';
import { runSignal, signalNext } from '../../../../main/services/training/signal/run-signal.ts';
import { readTaskFolder } from '../../../../main/tasks/folder/source.ts';
import { parseConfig } from '../../../../main/trainer/config/config.ts';
import type { GroupOutcome, TrainerEvent } from '../../../../main/trainer/protocol/trainer-events.ts';
import { temporaryStore } from '../../../store/helpers.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { tinyDataset } from '../../../tiny-dataset.ts';
import { taskYaml, writeTask } from '../../tasks/task-folder.ts';

const config = parseConfig({ num_generations: 8, per_device_train_batch_size: 16 });
/** A step that samples; one that reuses its groups neither samples nor scores. */
const times = { 'time/rollout': 1, 'time/reward': 0.5, 'time/loss': 2, step_time: 4 };

function stepEvent(step: number, outcomes: readonly GroupOutcome['outcome'][]): TrainerEvent {
  const groups = outcomes.map((outcome, i) => ({ recordId: `r${i}`, outcome, reward: i === 0 ? Number.NaN : 0.5 }));
  const metrics = groups.length > 0 ? times : { 'time/loss': 2, step_time: 4 };
  return { kind: 'step', step, metrics, groups };
}

describe('runSignal', () => {
  it('reads what was stored with the steps, each once, and forgets what a resumed run repeats', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config);
    expect(runSignal(store, runId)).toBeNull();
    const events = [stepEvent(1, ['teaches', 'dead']), stepEvent(2, ['teaches', 'solved']), stepEvent(3, [])];
    recordEvents(store, runId, events);
    recordEvents(store, runId, events);
    expect(store.promptGroups.ofRun(runId)).toHaveLength(4);
    expect(store.promptGroups.ofRun(runId)[0]).toEqual({
      step: 1,
      recordId: 'r0',
      outcome: 'teaches',
      reward: Number.NaN,
    });
    expect(runSignal(store, runId)).toMatchObject({
      prompts: { teaches: 1, solved: 1, dead: 0 },
      groups: 4,
      // The third step trains on the groups of the second: 4 s, 2 of them in the loss, of which a forward pass is a third.
      seconds: 12,
      wasted: 0.5 * 1.5 + 0.25 * 2 + 0.5 * 1.5 + 0.25 * 4,
    });
    discardAfter(store, runId, 1);
    expect(runSignal(store, runId)).toMatchObject({ prompts: { teaches: 1, solved: 0, dead: 1 }, groups: 2 });
  });

  it('has no budget where groups of equal rewards teach as well', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, method: 'polychromic-grpo' });
    recordEvents(store, runId, [stepEvent(1, ['teaches', 'dead'])]);
    expect(runSignal(store, runId)).toBeNull();
  });

  it('prepares the next run with a setting, under a name that says so', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config, { name: 'grpo/seed_42' });
    recordEvents(store, runId, [stepEvent(1, ['teaches', 'dead'])]);
    expect(signalNext(store, runId, 'pods_update_size')).toEqual({
      base: config,
      change: { pods_update_size: 4, per_device_train_batch_size: 8 },
      name: 'grpo pods_update_size 4/seed_42',
    });
    expect(signalNext(store, runId, 'dynamic_sampling').change).toEqual({ dynamic_sampling: 3 });
  });

  it('replays AdaRFT where the dataset has several lengths, with the reward of what taught', () => {
    const store = temporaryStore();
    const records = [...tinyDataset({ words: 2 }).train.slice(0, 2), ...tinyDataset({ words: 3 }).train.slice(0, 2)];
    const dataset = join(temporaryFolder(), 'mixed.jsonl');
    writeFileSync(dataset, toJsonLines(records));
    const { runId } = createRun(store, { ...config, dataset });
    const groups = records.map(({ id }, i) => ({
      recordId: id,
      outcome: i < 2 ? ('teaches' as const) : ('dead' as const),
      reward: 0.625,
    }));
    recordEvents(
      store,
      runId,
      [1, 2].map((step) => ({ kind: 'step' as const, step, metrics: times, groups })),
    );
    const adarft = () => runSignal(store, runId)?.savings.find(({ setting }) => setting === 'adarft_target_reward');
    expect(adarft()).toMatchObject({ change: { adarft_target_reward: 0.63 }, unknown: null });
    // Half of the groups teach; all of the nearest four do while there are two short records a generation.
    expect(adarft()?.seconds).toBeGreaterThan(0);
    rmSync(dataset);
    expect(adarft()).toMatchObject({ seconds: null, unknown: 'no_records' });
  });

  it('refuses a setting that is in use, ruled out or without effect', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, adarft_target_reward: 0.9 });
    recordEvents(store, runId, [stepEvent(1, ['teaches', 'dead'])]);
    expect(() => signalNext(store, runId, 'adarft_target_reward')).toThrow(/got adarft_target_reward$/);
    expect(() => signalNext(store, runId, 'dynamic_sampling')).toThrow(
      /got dynamic_sampling, which adarft_target_reward rules out/,
    );
    expect(signalNext(store, runId, 'scale_rewards').change).toEqual({ scale_rewards: 'mean' });
  });

  it('knows a negative reward, by the mean of its group or by a stored completion', () => {
    const store = temporaryStore();
    const scaling = (runId: number) =>
      runSignal(store, runId)?.savings.find(({ setting }) => setting === 'scale_rewards')?.unknown;
    const { runId } = createRun(store, config);
    recordEvents(store, runId, [stepEvent(1, ['teaches', 'dead'])]);
    expect(scaling(runId)).toBe('changes_update');
    const sample = {
      recordId: 'r1',
      prompt: 'p',
      target: '',
      completion: 'c',
      components: {},
      advantage: 0,
      length: 1,
    };
    store.samples.record(runId, 1, [{ ...sample, group: 0, index: 0, reward: -0.25, terminated: true }]);
    expect(scaling(runId)).toBe('negative_rewards');
    expect(() => signalNext(store, runId, 'scale_rewards')).toThrow(/got scale_rewards$/);
    const { runId: second } = createRun(store, config);
    const groups = [{ recordId: 'r0', outcome: 'teaches' as const, reward: -0.1 }];
    recordEvents(store, second, [{ kind: 'step', step: 1, metrics: times, groups }]);
    expect(scaling(second)).toBe('negative_rewards');
  });

  it('knows a negative weight of the task, and offers MaxRL where the task can no longer be read', () => {
    const store = temporaryStore();
    const definition = taskYaml.replace('short: 0.5', 'short: -0.5');
    const task = readTaskFolder(writeTask(temporaryFolder(), 'say', { 'task.yaml': definition }));
    const { runId, folder } = createRun(store, { ...config, task: task.folder }, { task });
    recordEvents(store, runId, [stepEvent(1, ['teaches', 'dead'])]);
    expect(() => signalNext(store, runId, 'scale_rewards')).toThrow(/which reward_weights rules out/);
    rmSync(join(folder, 'tasks'), { recursive: true });
    expect(signalNext(store, runId, 'scale_rewards').change).toEqual({ scale_rewards: 'mean' });
  });
});
