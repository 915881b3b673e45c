/** Verdict, advice and the events of the collapse watch on one run: none may contradict another. */
import { describe, expect, it } from 'vitest';
import type { Curriculum } from '../../../../main/api/contract/index.ts';
import { watchFrame } from '../../../../main/commands/watch-frame.ts';
import { stageView } from '../../../../main/services/curriculum/curriculum.ts';
import { listModels } from '../../../../main/services/models/list.ts';
import { recordEvents } from '../../../../main/services/runs/events.ts';
import { heldOutStanding, unmetGoal } from '../../../../main/services/runs/held-out.ts';
import { runDetail, runSummary } from '../../../../main/services/runs/history.ts';
import { bestOf, goalOf } from '../../../../main/services/runs/promotion.ts';
import { runReport } from '../../../../main/services/runs/run-report.ts';
import { runView } from '../../../../main/services/runs/run-view.ts';
import { createRun } from '../../../../main/services/runs/runs.ts';
import { runAdvice } from '../../../../main/services/runs/verdict/advice.ts';
import { runVerdict } from '../../../../main/services/runs/verdict/run-verdict.ts';
import type { HostPaths } from '../../../../main/services/workspace/paths.ts';
import { interleaveTask } from '../../../../main/tasks/interleave/task.ts';
import { parseConfig } from '../../../../main/trainer/config/config.ts';
import { openPhases } from '../../../../main/trainer/monitor/phases.ts';
import type { Metrics, TrainerEvent } from '../../../../main/trainer/protocol/trainer-events.ts';
import { noProgress } from '../../../../main/trainer/run/checkpoint.ts';
import { openRunIo } from '../../../../main/trainer/run/open-run-io.ts';
import { shortcuts } from '../../../../renderer/compare/choice.ts';
import { nextStep } from '../../../../renderer/home/next-step.ts';
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
    openPhases(),
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

/** A stage of 10 words whose run scored these, from its baseline on, every 7 steps. */
function stageRun(...means: readonly number[]) {
  const store = temporaryStore();
  const stage = { name: '25 words', position: 0, words: 25, datasetId: null, steps: 7, config: {} };
  const stageId = store.stages.add({ ...stage, promotion: { at_least: 0.9, evaluations: 2 } });
  const { runId } = createRun(store, config, { name: 'second', stageId });
  const steps = Array.from(
    { length: 7 },
    (_, i) => ({ kind: 'step', step: i + 1, metrics: { ...metrics, step_time: 1 } }) as const,
  );
  const scored = means.map((mean, i) => {
    const item = { id: 'a', completion: '', metrics: { alignment: mean } };
    return { kind: 'evaluation', step: 7 * i, metrics: {}, items: [item] } as const;
  });
  recordEvents(store, runId, [...steps, ...scored]);
  // Another length, and the same records again by the forgetting check: neither is the run's own evaluation.
  const other = {
    runId,
    checkpointId: null,
    model: 'tiny',
    n: 1,
    low: null,
    high: null,
    exactMatch: null,
    metrics: {},
  };
  const dataset = store.evaluations.ofRun(runId)[0]?.dataset ?? '';
  for (const file of [dataset, 'other.test.jsonl'])
    store.evaluations.add({ ...other, dataset: file, step: 7, mean: 0.123, duringTraining: false }, []);
  return { store, runId, stageId };
}

describe('the held-out score', () => {
  const worse =
    'Held-out score 0.905 at step 7, below the 0.969 before the run; the goal of 0.9 is met by the newest evaluation, and needs 2 in a row';

  it('is said in one sentence by run page, curriculum, queue, watch, its JSON and the verdict', () => {
    const { store, runId, stageId } = stageRun(0.969, 0.905);
    const stage = store.stages.get(stageId);
    if (stage === undefined) throw new Error('expected a stage');
    const view = runView(store, runId);
    const said = [
      runDetail(store, runId).standing?.sentence,
      stageView(store, stage, {} as HostPaths).standing?.sentence,
      unmetGoal(store, runId),
      view.standing?.sentence,
      runReport(view).standing?.sentence,
      runVerdict(store, runId).sentences[0]?.replace(/\.$/, ''),
    ];
    expect(new Set(said)).toEqual(new Set([worse]));
    const frame = watchFrame(view, { columns: 400, rows: null, colour: false }).join('\n');
    expect(frame.split(worse)).toHaveLength(3);
    expect(runVerdict(store, runId)).toMatchObject({ tone: 'warn', title: 'worse than its start' });
    // What lists show is the same evaluation.
    const numbers = [runSummary(store, runId), runDetail(store, runId)].map(({ evaluation }) => evaluation?.mean);
    expect([...numbers, runReport(view).held_out?.mean, runSummary(store, runId).below]).toEqual([
      ...[0.905, 0.905, 0.905],
      'clearly',
    ]);
  });

  it('is the same on Home, and beside a checkpoint to compare', () => {
    const { store, runId, stageId } = stageRun(0.969, 0.905);
    store.stages.setState(stageId, 'done');
    const stage = store.stages.get(stageId);
    if (stage === undefined) throw new Error('expected a stage');
    const stages = [stageView(store, stage, {} as HostPaths)];
    expect(nextStep({ stages, held: null, queue: [] } as unknown as Curriculum, true)).toMatchObject({
      kind: 'done',
      warning: `25 words: ${worse}.`,
    });
    store.checkpoints.record(runId, 7, 'outputs/gone', 'final');
    const models = listModels({ store, workspace: { models: 'none' }, paths: { resources: 'none' } });
    expect(models.map(({ heldOut }) => heldOut)).toEqual([0.905]);
  });

  it('does not take the baseline for an evaluation', () => {
    const { store, runId } = stageRun(0.969);
    const before = 'Held-out score 0.969 before the run, none since; the goal of 0.9 needs 2 evaluations';
    expect(runDetail(store, runId).standing).toMatchObject({ newest: null, isMet: false, sentence: before });
    expect(runSummary(store, runId).evaluation).toBeNull();
    expect(runReport(runView(store, runId))).toMatchObject({ baseline: 0.969, held_out: null });
  });

  it('meets a goal only as often in a row as it asks for', () => {
    const { store, runId } = stageRun(0.5, 0.91, 0.92);
    expect(unmetGoal(store, runId)).toBeNull();
    expect(runDetail(store, runId).standing).toMatchObject({ tone: 'good', isMet: true });
    expect(unmetGoal(stageRun(0.5, 0.91, 0.8).store, runId)).toMatch(/; the goal of 0\.9 is not met$/);
  });
});

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

  it('agree which of two equal scores is the best', () => {
    const evaluations = [
      { step: 10, mean: 0.9 },
      { step: 20, mean: 0.9 },
    ];
    const checkpoints = bestOf(evaluations, new Map(evaluations.map(({ step, mean }) => [step, mean])));
    expect(checkpoints?.step).toBe(20);
    expect(heldOutStanding({ evaluations, goal: null, ended: true })?.best?.step).toBe(20);
    const shown = evaluations.map(({ step, mean }) => ({
      ref: `checkpoint:${step}`,
      run: { id: 1, name: 'a' },
      step,
      heldOut: mean,
      problem: null,
    }));
    expect(shortcuts(shown)[0]?.models).toEqual(['checkpoint:20']);
  });

  it('choose no evaluation whose reward failed on every record', () => {
    const evaluations = [Number.NaN, 0.5, 0.4, Number.NaN].map((mean, i) => ({ step: 10 * i + 10, mean }));
    const checkpoints = bestOf(evaluations, new Map(evaluations.map(({ step, mean }) => [step, mean])));
    expect(checkpoints?.step).toBe(20);
    expect(heldOutStanding({ evaluations, goal: null, ended: true })?.best?.step).toBe(20);
  });

  it("meets a goal with the mean that is shown as the goal's, whatever rounding did to it", () => {
    const evaluations = [{ step: 10, mean: 0.8999999999999999 }];
    const standing = heldOutStanding({ evaluations, goal: { at_least: 0.9, evaluations: 1 }, ended: true });
    expect(standing?.sentence).toBe('Held-out score 0.900 at step 10; the goal of 0.9 is met');
  });
});
