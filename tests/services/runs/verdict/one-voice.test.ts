/** Verdict, advice and the events of the collapse watch on one run: none may contradict another. */
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../../main/services/runs/events.ts';
import { goalOf } from '../../../../main/services/runs/promotion.ts';
import { createRun } from '../../../../main/services/runs/runs.ts';
import { runAdvice } from '../../../../main/services/runs/verdict/advice.ts';
import { runVerdict } from '../../../../main/services/runs/verdict/run-verdict.ts';
import { interleaveTask } from '../../../../main/tasks/interleave/task.ts';
import { parseConfig } from '../../../../main/trainer/config/config.ts';
import { openPhases } from '../../../../main/trainer/monitor/phases.ts';
import type { Metrics, TrainerEvent } from '../../../../main/trainer/protocol/trainer-events.ts';
import { noProgress } from '../../../../main/trainer/run/checkpoint.ts';
import { openRunIo } from '../../../../main/trainer/run/open-run-io.ts';
import { temporaryStore } from '../../../store/helpers.ts';

const config = parseConfig({
  temperature: 0.8,
  learning_rate: 1e-5,
  max_steps: 60,
  save_steps: 100,
  pause_on_collapse: true,
});
const metrics: Metrics = {
  loss: 0.02,
  grad_norm: 0.5,
  reward: 0.6,
  reward_std: 0.2,
  entropy: 0.3,
  'groups/dead': 0,
  'completions/unique_ratio': 0.9,
  'completions/repetition': 0.05,
};
/** The completions of every group are alike. */
const alike: Metrics = { ...metrics, reward_std: 0, 'groups/dead': 1, 'completions/unique_ratio': 0.05 };

/** A run of 40 steps on a stage with a goal of 0.9, up to where the trainer itself would say something. */
async function run(heldOut: number, step: (at: number) => Metrics) {
  const store = temporaryStore();
  const stageId = store.stages.add({
    name: 'First',
    position: 0,
    words: 10,
    datasetId: null,
    steps: 120,
    config: {},
    promotion: { at_least: 0.9, evaluations: 1 },
  });
  const { runId } = createRun(store, config, { name: 'first', stageId });
  recordEvents(store, runId, [
    {
      kind: 'evaluation',
      step: 1,
      metrics: {},
      items: [{ id: 'a', completion: '', metrics: { alignment: heldOut } }],
    },
  ]);
  const events: TrainerEvent[] = [];
  const pauses: string[] = [];
  const control = { requestPause: (reason: string) => pauses.push(reason) };
  // Only what the reporting side of a run reads: there is no model.
  const parts = [
    { config, task: interleaveTask, start: { goal: goalOf(store, runId, 1) }, evalRecords: [] },
    { takeMetrics: () => ({}), save: () => undefined },
    noProgress(),
    control,
    openPhases(() => undefined),
    (event: TrainerEvent) => events.push(event),
  ] as unknown as Parameters<typeof openRunIo>;
  const io = openRunIo(...parts);
  for (let at = 2; at <= 40; at++) await io.endStep(at, step(at));
  recordEvents(store, runId, events);
  return {
    pauses,
    verdict: runVerdict(store, runId),
    advice: runAdvice(store, runId).map(({ rule }) => rule),
    warnings: events.flatMap((event) => (event.kind === 'warning' ? [event.rule] : [])),
  };
}

describe('verdict, advice and events', () => {
  it('agree above the goal: completions that are alike are no trouble, and nothing pauses', async () => {
    const { verdict, advice, warnings, pauses } = await run(0.95, () => alike);
    expect(verdict).toMatchObject({ tone: 'good', title: 'goal reached' });
    expect([advice, warnings, pauses]).toEqual([[], [], []]);
  });

  it('agree below the goal that the same completions are trouble', async () => {
    const { verdict, advice, warnings, pauses } = await run(0.6, () => alike);
    expect(verdict).toMatchObject({ tone: 'warn', title: 'no signal' });
    expect(advice).toEqual([]);
    expect(warnings[0]).toBe('dead_groups');
    expect(pauses).toHaveLength(warnings.length);
  });

  it('agree above the goal that damage counts', async () => {
    const { verdict, warnings } = await run(0.95, () => ({ ...metrics, kl: 40 }));
    expect(verdict).toMatchObject({ tone: 'bad', title: 'drifting' });
    expect(warnings).toEqual(['kl']);
  });

  it('agree that a falling reward needs a lower learning rate, not more exploring', async () => {
    const { verdict, advice } = await run(0.6, (at) => ({ ...metrics, reward: 0.7 - at * 0.01 }));
    expect(verdict).toMatchObject({ tone: 'warn', title: 'getting worse' });
    expect(advice).toEqual([]);
  });
});
