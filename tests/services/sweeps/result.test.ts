import { describe, expect, it } from 'vitest';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { listSweeps, sweepView } from '../../../main/services/sweeps/result.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';

/** A finished sweep with these rewards at the end, by setting and seed. */
function sweepWith(...rewards: readonly (readonly number[])[]) {
  const store = temporaryStore();
  const settings = rewards.map((_, i) => ({ learning_rate: 10 ** -(i + 1) }));
  const seeds = [1, 2, 3];
  const trials = rewards.flatMap((of, setting) =>
    of.map((_, i) => ({ setting, seed: seeds[i] ?? 0, name: `${setting}/${i}`, config: {}, after: null })),
  );
  const id = store.sweeps.add('rates', { settings, seeds, rungs: null, factor: null }, trials);
  for (const trial of store.sweeps.trials(id)) {
    const { runId } = createRun(store, parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 1 }));
    store.metrics.record(runId, 1, { reward: rewards[trial.setting]?.[trial.seed - 1] ?? Number.NaN });
    finishRun(store, runId, 'done');
    store.sweeps.startTrial(trial.id, runId);
    store.sweeps.setTrial(trial, 'done');
  }
  return { store, id };
}

describe('the table of a sweep', () => {
  it('has a leader with its mean, in the list as well', () => {
    const { store, id } = sweepWith([0.5, 0.6, 0.7], [0.6, 0.7, 0.8]);
    expect(sweepView(store, id).rows.map(({ leads, tied }) => [leads, tied])).toEqual([
      [false, false],
      [true, false],
    ]);
    const [{ leader } = { leader: null }] = listSweeps(store);
    expect(leader).toMatchObject({ label: 'learning_rate 0.01', mean: expect.closeTo(0.7), n: 3, tied: 1 });
  });

  it('calls settings with the same mean tied, whatever the order of their seeds', () => {
    const { store, id } = sweepWith([0.5, 0.6, 0.7], [0.7, 0.6, 0.5], [0.1, 0.1, 0.1]);
    expect(sweepView(store, id).rows.map(({ tied, best }) => [tied, best])).toEqual([
      ...[
        [true, false],
        [true, false],
      ],
      [false, false],
    ]);
    expect(listSweeps(store)[0]?.leader).toMatchObject({ tied: 2 });
  });

  it('has no leader before the first score', () => {
    const { store } = sweepWith([], []);
    expect(listSweeps(store)[0]?.leader).toBeNull();
  });
});
