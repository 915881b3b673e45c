/** What of a run's history a tracker hasn't got yet: the history is the only buffer, so nothing is lost while it is away. */
import { wholeText } from '../../samples/completion.ts';
import { componentColumn, type StoredSample } from '../../samples/sample.ts';
import type { Store } from '../../store/index.ts';
import type { TrackedStep, TrackedTable } from './tracker.ts';

/** The last steps that a tracker has. */
export interface Cursor {
  readonly step: number;
  readonly evaluation: number;
  readonly samples: number;
}

export const START: Cursor = { step: 0, evaluation: -1, samples: 0 };

export interface Unsent {
  readonly steps: readonly TrackedStep[];
  readonly table: TrackedTable | null;
  /** The cursor once it is sent. */
  readonly after: Cursor;
}

/** Steps of one batch. */
const BATCH = 100;

/**
 * The next batch in the order of steps: metrics, held-out evaluations, and the completions of the first stored step in
 * it. A step that was sent isn't sent again, also where a resumed run trains it once more. null: there is nothing.
 */
export function nextUnsent(store: Store, runId: number, cursor: Cursor): Unsent | null {
  const sampled = store.samples.steps(runId).find((step) => step > cursor.samples) ?? null;
  const rows = store.metrics.after(runId, cursor.step, BATCH);
  const until = Math.max(cursor.step, rows.at(-1)?.step ?? 0);
  const evaluations = store.evaluations
    .ofRun(runId)
    .filter(({ duringTraining, step }) => duringTraining && step > cursor.evaluation && step <= until);
  const table = sampled !== null && sampled <= until ? tableOf(sampled, store.samples.byStep(runId, sampled)) : null;
  if (rows.length === 0 && evaluations.length === 0 && table === null) return null;
  const steps = [...rows, ...evaluations.map(({ step, metrics }) => ({ step, metrics }))];
  return {
    // Sorting keeps an evaluation behind the metrics of its step.
    steps: steps.sort((a, b) => a.step - b.step),
    table,
    after: {
      step: until,
      evaluation: Math.max(cursor.evaluation, ...evaluations.map(({ step }) => step)),
      samples: table === null ? cursor.samples : table.step,
    },
  };
}

function tableOf(step: number, samples: readonly StoredSample[]): TrackedTable {
  const components = [...new Set(samples.flatMap((sample) => Object.keys(sample.components)))].sort();
  const [before, after] = [
    ['step', 'prompt', 'completion', 'target'],
    ['reward', 'advantage'],
  ] as const;
  const named = components.map((name) => componentColumn(name, [...before, ...after]));
  return {
    step,
    columns: [...before, ...named, ...after],
    rows: samples.map(({ prompt, target, reward, advantage, ...sample }) => [
      ...[step, prompt, wholeText(sample), target],
      ...components.map((name) => finite(sample.components[name])),
      ...[finite(reward), finite(advantage)],
    ]),
  };
}

/** A table's cell has no number for NaN. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
