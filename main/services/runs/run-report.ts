/** A look at a run as plain JSON, for scripts and agents: names as in `--json` elsewhere, NaN becomes null. */
import type { EventRow } from '../../store/events.ts';
import type { HeldOutStanding } from './held-out.ts';
import type { RunView } from './run-view.ts';
import type { SampleView } from './samples/samples.ts';

/** What `braid watch --json` prints, and what agents read. */
export function runReport(view: RunView) {
  const { run, live, heldOut, standing, verdict, advice, extremes } = view;
  const newest = heldOut.findLast(({ step }) => step > 0);
  return {
    run_id: run.id,
    name: run.name,
    method: run.method,
    task: run.task,
    model: run.model,
    dataset: run.dataset,
    backend: run.backend,
    state: run.state,
    reason: run.reason,
    live,
    step: run.step,
    max_steps: run.maxSteps,
    seconds_per_step: view.secondsPerStep,
    seconds_left: view.secondsLeft,
    metrics: Object.fromEntries(Object.entries(run.latest).map(([name, { value }]) => [name, finite(value)])),
    baseline: finite(run.baselineScore ?? Number.NaN),
    held_out:
      newest === undefined
        ? null
        : { step: newest.step, mean: finite(newest.mean), low: newest.low, high: newest.high, n: newest.n },
    standing: standingReport(standing),
    verdict,
    advice: advice.map(({ rule, message, remedy, change }) => ({ rule, message, remedy, change })),
    samples:
      extremes === null
        ? null
        : {
            step: extremes.step,
            n: extremes.n,
            best: sampleReport(extremes.best),
            worst: extremes.worst === null ? null : sampleReport(extremes.worst),
          },
  };
}

/** Where a held-out score stands. */
export function standingReport(standing: HeldOutStanding | null) {
  if (standing === null) return null;
  const { isMet: is_met, ...rest } = standing;
  return { ...rest, is_met };
}

/** A completion with its target, without its prompt's twin fields. */
export function sampleReport({ recordId, group, index, reward, components, ...rest }: SampleView) {
  const { prompt, target, completion, length, terminated } = rest;
  return {
    record_id: recordId,
    group,
    index,
    reward: finite(reward),
    components: Object.fromEntries(Object.entries(components).map(([name, value]) => [name, finite(value)])),
    length,
    terminated,
    prompt,
    target,
    completion,
  };
}

/** An event of a run. */
export function eventReport({ id, step, kind, severity, message, remedy, at }: EventRow) {
  return { id, step, kind, severity, message, remedy, at: new Date(at).toISOString() };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
