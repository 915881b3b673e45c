/** Stored completions: a step of a run, one completion against its target, one record over the run. */

import { inputError } from '../../../errors.ts';
import type { SampleFacts, SampleKey, StoredSample } from '../../../samples/sample.ts';
import type { Store } from '../../../store/index.ts';
import type { RunState, TaskShow } from '../../../store/runs.ts';
import type { StepRewards } from '../../../store/samples.ts';
import { alignCompletion, type WordAlignment } from '../../../text/word-alignment.ts';
import { requireRun } from '../runs.ts';
import { savedFields } from '../saved-config.ts';

/** What a run has stored. */
export interface RunSamples {
  readonly runId: number;
  readonly name: string;
  readonly task: string;
  readonly show: TaskShow;
  readonly state: RunState;
  /** The step that the run has reached. */
  readonly step: number;
  readonly maxSteps: number;
  /** Completions are stored every this many steps, and for the first and the last step. */
  readonly sampleSteps: number;
  readonly steps: readonly StepRewards[];
}

/** A completion with its words against the target. */
export interface SampleView extends StoredSample {
  readonly runName: string;
  /** How a page shows it. */
  readonly show: TaskShow;
  /** Null for a task without an exact target, where words aren't right or wrong. */
  readonly alignment: WordAlignment | null;
}

/** A record at one step: its group's best and worst completion. */
export interface RecordStep {
  readonly step: number;
  readonly group: number;
  readonly n: number;
  /** Of the rewards; NaN without any. */
  readonly mean: number;
  readonly best: SampleFacts;
  readonly worst: SampleFacts;
}

/** The best and the worst completion of a step. */
export interface Extremes {
  readonly step: number;
  readonly n: number;
  readonly best: SampleView;
  /** Null for a single completion. */
  readonly worst: SampleView | null;
}

/** What a run has stored, by step. */
export function runSamples(store: Store, runId: number): RunSamples {
  const run = requireRun(store, runId);
  const { name, task, taskShow: show, state, step, maxSteps } = run;
  const { sample_steps } = savedFields(run);
  const sampleSteps = typeof sample_steps === 'number' ? sample_steps : 1;
  return { runId, name, task, show, state, step, maxSteps, sampleSteps, steps: store.samples.rewardsByStep(runId) };
}

/** The run with the newest stored completions; null if there are none. */
export function newestSamples(store: Store): number | null {
  return store.samples.newestRun() ?? null;
}

/** The metrics of every completion of a step, group by group. */
export function stepSamples(store: Store, runId: number, step: number): readonly SampleFacts[] {
  const { step: reached, name } = requireRun(store, runId);
  const samples = store.samples.factsOfStep(runId, step);
  if (samples.length === 0) throw stepGone(name, step, reached);
  return samples;
}

/** One completion with all its details. */
export function readSample(store: Store, key: SampleKey): SampleView {
  const { name, task, taskShow, step: reached } = requireRun(store, key.runId);
  const sample = store.samples.get(key);
  if (sample === undefined) throw stepGone(name, key.step, reached);
  const alignment = taskShow === 'aligned' ? alignCompletion(sample.target, sample.completion, task) : null;
  return { ...sample, runName: name, show: taskShow, alignment };
}

/** The best and the worst completion of a step, by default of the newest stored one; null if none are stored. */
export function stepExtremes(store: Store, runId: number, chosen?: number): Extremes | null {
  const step = chosen ?? store.samples.steps(runId).at(-1);
  if (step === undefined) return null;
  const ranked = stepSamples(store, runId, step).toSorted((a, b) => rank(b) - rank(a));
  const [best, worst] = [ranked[0], ranked.at(-1)];
  if (best === undefined || worst === undefined) return null;
  const last = worst === best ? null : readSample(store, worst);
  return { step, n: ranked.length, best: readSample(store, best), worst: last };
}

function stepGone(name: string, step: number, reached: number) {
  const why =
    step > reached
      ? `There are no completions of step ${step}: ${name} is at step ${reached} (it may have gone back to a checkpoint)`
      : `No completions of step ${step} of ${name} were stored`;
  return inputError('SAMPLES_GONE', why, 'Choose another step.');
}

/** How the completions of one record changed, step by step. */
export function recordThroughRun(store: Store, runId: number, recordId: string): RecordStep[] {
  const { name } = requireRun(store, runId);
  const samples = store.samples.factsOfRecord(runId, recordId);
  if (samples.length === 0)
    throw inputError('RECORD_UNKNOWN', `There are no completions of record "${recordId}" in ${name}`);
  const groups = Map.groupBy(samples, ({ step, group }) => `${step}:${group}`);
  return [...groups.values()].flatMap((of) => {
    const ranked = [...of].sort((a, b) => rank(b) - rank(a));
    const [best, worst] = [ranked[0], ranked.at(-1)];
    if (best === undefined || worst === undefined) return [];
    const rewards = of.map(({ reward }) => reward).filter((reward) => !Number.isNaN(reward));
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    return [{ step: best.step, group: best.group, n: of.length, mean, best, worst }];
  });
}

/** A completion without a reward counts as the worst. */
function rank({ reward }: SampleFacts): number {
  return Number.isNaN(reward) ? Number.NEGATIVE_INFINITY : reward;
}
