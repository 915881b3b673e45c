/** A run for other tools: TensorBoard events, metrics as CSV, completions as parquet. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeError } from '../files.ts';
import type { Store } from '../store/index.ts';
import { taskByName } from '../tasks/index.ts';
import { csvText } from './csv.ts';
import { completionsParquet } from './exports/completions.ts';
import { type ScalarEvent, tensorBoardFile, tensorBoardName } from './exports/tensorboard.ts';
import { requireRun } from './runs.ts';

export interface ExportedFiles {
  readonly tensorboard: string;
  readonly metrics: string;
  /** null: the run has kept no completions. */
  readonly completions: string | null;
  readonly steps: number;
  readonly samples: number;
}

/** Writes everything about a run into a folder; `tensorboard --logdir` takes the folder or one above it. */
export function exportRun(store: Store, runId: number, folder: string): ExportedFiles {
  const run = requireRun(store, runId);
  const names = store.metrics.names(runId);
  const rows = stepRows(store, runId, names);
  const began = (run.startedAt ?? run.createdAt) / 1000;
  const samples = store.samples.steps(runId).flatMap((step) => store.samples.byStep(runId, step));
  const files = {
    tensorboard: join(folder, tensorBoardName(began)),
    metrics: join(folder, 'metrics.csv'),
    completions: samples.length === 0 ? null : join(folder, 'completions.parquet'),
  };
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(files.tensorboard, tensorBoardFile(eventsOf(rows, began)));
    writeFileSync(
      files.metrics,
      csvText([
        ['step', ...names],
        ...rows.map(({ step, values }) => [step, ...names.map((name) => values[name] ?? Number.NaN)]),
      ]),
    );
    if (files.completions !== null)
      writeFileSync(files.completions, completionsParquet(samples, taskByName(run.task).rewardNames));
  } catch (error) {
    throw writeError(error, folder, 'the export');
  }
  return { ...files, steps: rows.length, samples: samples.length };
}

interface StepRow {
  readonly step: number;
  readonly values: Readonly<Record<string, number>>;
}

function stepRows(store: Store, runId: number, names: readonly string[]): StepRow[] {
  const rows = new Map<number, Record<string, number>>();
  for (const [name, points] of Object.entries(store.metrics.seriesOf(runId, names))) {
    for (const { step, value } of points) {
      const row = rows.get(step) ?? {};
      row[name] = value;
      rows.set(step, row);
    }
  }
  return [...rows].sort(([a], [b]) => a - b).map(([step, values]) => ({ step, values }));
}

/** The history keeps no clock time a step: the steps' own durations place them after the start. */
function eventsOf(rows: readonly StepRow[], began: number): ScalarEvent[] {
  let wallTime = began;
  return rows.map(({ step, values }) => {
    wallTime += values.step_time ?? 0;
    return { step, wallTime, values };
  });
}
