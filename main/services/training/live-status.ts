/** The state of a live run for the status bar and the run page. Pure. */
import type { RunRow } from '../../store/runs.ts';
import { WARM_UP_LOSS } from '../../trainer/config/config.ts';
import { EVALUATION_TIME, type EvaluationPlan, evaluationsAfter } from '../../trainer/config/evaluations.ts';
import type { MemoryUse } from '../../trainer/memory/budget.ts';
import type { TrainerCommand, TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { evaluationPlan } from '../runs/step-times.ts';

export interface LiveStatus {
  readonly runId: number;
  readonly name: string;
  readonly stageId: number | null;
  /** `ending`: its end is stored, the process is exiting. */
  readonly state: 'starting' | 'running' | 'paused' | 'stopping' | 'ending';
  /**
   * What it has been asked and hasn't answered yet: a trainer hears between two steps only. `save`: to stop, with
   * no step left to finish.
   */
  readonly asked: 'pause' | 'resume' | 'save' | null;
  /** Why the collapse watch paused it; null: it didn't. */
  readonly reason: string | null;
  readonly step: number;
  readonly maxSteps: number;
  readonly startedAt: number;
  /** How long the trainer has been silent, once that is clearly longer than usual; null: as usual. */
  readonly silentSeconds: number | null;
  /** Mean of the last steps, or the calibration's before the first. */
  readonly secondsPerStep: number | null;
  /** The same of the warm-up, whose steps are others; null: none was measured. */
  readonly secondsPerWarmUpStep: number | null;
  /** Steps measured since the trainer started, without those of the warm-up. */
  readonly measured: number;
  readonly secondsLeft: number | null;
  /** When it is evaluated, and what the newest evaluation took or is expected to; null: unknown. */
  readonly evaluations: EvaluationPlan & { readonly seconds: number | null };
  /** The estimate at admission, then the trainer's own. */
  readonly expected: MemoryUse;
  /** Of the trainer process, when it last reported. */
  readonly memoryBytes: number | null;
  /** Of a GPU's memory, at the last step, and the most so far. */
  readonly gpuBytes: number | null;
  readonly gpuPeakBytes: number | null;
  readonly backend: string | null;
  readonly threads: number | null;
  /** Why this backend. */
  readonly why: string | null;
  readonly reward: number | null;
}

/** The weight of the newest step time in the moving average; the first steps all have the same. */
const NEWEST = 0.2;

/** A run whose trainer was just started. */
export function liveStatus(run: RunRow, expected: MemoryUse, now: number): LiveStatus {
  return {
    runId: run.id,
    name: run.name,
    stageId: run.stageId,
    state: 'starting',
    asked: null,
    reason: null,
    step: run.step,
    maxSteps: run.maxSteps,
    startedAt: now,
    silentSeconds: null,
    secondsPerStep: null,
    secondsPerWarmUpStep: null,
    measured: 0,
    secondsLeft: null,
    evaluations: { ...evaluationPlan(run), seconds: null },
    expected,
    memoryBytes: null,
    gpuBytes: null,
    gpuPeakBytes: null,
    backend: null,
    threads: null,
    why: null,
    reward: null,
  };
}

/** The status after a request. */
export function asked(status: LiveStatus, kind: TrainerCommand['kind']): LiveStatus {
  const { state } = status;
  // One that is ending has saved, with no step left to finish.
  if (state === 'ending' || (state === 'stopping' && kind !== 'stop')) return status;
  switch (kind) {
    case 'pause':
      return state === 'paused' ? { ...status, asked: null } : { ...status, asked: 'pause' };
    case 'resume':
      return { ...status, asked: state === 'paused' ? 'resume' : null };
    case 'stop':
      return { ...status, state: 'stopping', asked: state === 'paused' ? 'save' : null };
  }
}

/** The status after one event. */
export function advance(before: LiveStatus, event: TrainerEvent): LiveStatus {
  const status = { ...before, silentSeconds: null };
  switch (event.kind) {
    case 'ready': {
      const { backend, threads, why, maxSteps } = event;
      return { ...status, state: unlessStopping(status, 'running'), backend, threads, why, maxSteps };
    }
    case 'estimate': {
      const { secondsPerStep, seconds: secondsLeft, memoryBytes: host, gpuBytes: gpu = 0, step } = event;
      const evaluations = { ...status.evaluations, seconds: event.secondsPerEvaluation ?? null };
      return { ...status, step, secondsPerStep, secondsLeft, evaluations, expected: { host, gpu } };
    }
    case 'step':
      return afterStep(status, event);
    case 'paused':
      return {
        ...status,
        state: unlessStopping(status, 'paused'),
        asked: status.state === 'stopping' ? status.asked : null,
        reason: event.byWatch ? event.reason : null,
      };
    case 'resumed':
      return { ...status, state: unlessStopping(status, 'running'), asked: null, reason: null };
    case 'alive':
      return { ...status, memoryBytes: event.memoryBytes ?? status.memoryBytes };
    case 'done':
    case 'failed':
      return { ...status, state: 'ending', asked: null };
    default:
      return status;
  }
}

/** What was asked before the stop may be reported after it. */
function unlessStopping({ state }: LiveStatus, next: LiveStatus['state']): LiveStatus['state'] {
  return state === 'stopping' ? state : next;
}

function afterStep(before: LiveStatus, { step, metrics }: Extract<TrainerEvent, { kind: 'step' }>): LiveStatus {
  const { step_time: seconds, memory_mb: memory, gpu_memory_mb: gpu, gpu_memory_peak_mb: gpuPeak, reward } = metrics;
  const isWarmUp = metrics[WARM_UP_LOSS] !== undefined;
  const evaluations = { ...before.evaluations, seconds: metrics[EVALUATION_TIME] ?? before.evaluations.seconds };
  const timed = isWarmUp ? afterWarmUpStep : afterOwnStep;
  return {
    ...before,
    ...timed({ ...before, evaluations }, step, seconds),
    evaluations,
    step,
    // The one that it was to finish.
    asked: before.state === 'stopping' ? 'save' : before.asked,
    memoryBytes: memory === undefined ? before.memoryBytes : memory * 2 ** 20,
    gpuBytes: gpu === undefined ? before.gpuBytes : gpu * 2 ** 20,
    gpuPeakBytes: gpuPeak === undefined ? before.gpuPeakBytes : gpuPeak * 2 ** 20,
    reward: reward ?? before.reward,
  };
}

type Times = Pick<LiveStatus, 'secondsPerStep' | 'secondsPerWarmUpStep' | 'measured' | 'secondsLeft'>;

/** A step of the warm-up says nothing of those after it, which still take what was estimated. */
function afterWarmUpStep(status: LiveStatus, step: number, seconds: number | undefined): Times {
  const { secondsPerStep, secondsPerWarmUpStep: before, measured } = status;
  return withLeft(status, step, { secondsPerStep, measured, secondsPerWarmUpStep: mean(before, seconds, step) });
}

function afterOwnStep(status: LiveStatus, step: number, seconds: number | undefined): Times {
  const { secondsPerStep: before, secondsPerWarmUpStep } = status;
  // The first step replaces the estimate, which a busy machine can have made wrong by far.
  const measured = status.measured + (seconds === undefined ? 0 : 1);
  return withLeft(status, step, { secondsPerStep: mean(before, seconds, measured), measured, secondsPerWarmUpStep });
}

/** The moving average after the nth value. */
function mean(before: number | null, value: number | undefined, n: number): number | null {
  if (before === null || value === undefined) return before ?? value ?? null;
  return before + Math.max(NEWEST, 1 / n) * (value - before);
}

function withLeft(status: LiveStatus, step: number, times: Omit<Times, 'secondsLeft'>): Times {
  const { secondsPerStep, secondsPerWarmUpStep } = times;
  const left = status.maxSteps - step;
  const warmUp = Math.max(0, status.evaluations.warm_up_steps - step);
  const own = secondsPerStep === null ? null : secondsPerStep * (left - warmUp);
  const steps = own === null ? null : own + (secondsPerWarmUpStep ?? 0) * warmUp;
  return { ...times, secondsLeft: steps === null ? null : steps + evaluating(status, step) };
}

/** Seconds of the evaluations after a step. */
function evaluating({ evaluations: { seconds, ...plan } }: LiveStatus, step: number): number {
  return (seconds ?? 0) * evaluationsAfter(step, plan);
}

/** Heartbeats come every few seconds; a busy machine or a large checkpoint may delay some of them. */
export const SHORTEST_SILENCE_MS = 30_000;
/** It may be silent within a step, but no longer than the step takes. */
const STEPS = 3;

/** The silence to report, in seconds; null: within the limit for this run. */
export function silenceToTell(
  { state, secondsPerStep }: Pick<LiveStatus, 'state' | 'secondsPerStep'>,
  quietMs: number,
  shortestMs = SHORTEST_SILENCE_MS,
): number | null {
  // There are no heartbeats while loading or ending; before the first estimate the step time is unknown.
  if (state === 'starting' || state === 'ending' || secondsPerStep === null) return null;
  return quietMs < Math.max(shortestMs, STEPS * secondsPerStep * 1000) ? null : Math.round(quietMs / 1000);
}
