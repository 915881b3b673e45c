/** A run for other tools: TensorBoard events, metrics as CSV, completions as parquet. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { inputError } from '../../../errors.ts';
import { writeError, writeFileAtomic } from '../../../io/atomic-write.ts';
import { csvText } from '../../../io/csv.ts';
import { makeFolder } from '../../../io/make-folder.ts';
import { wholeText } from '../../../samples/completion.ts';
import {
  type ColumnKind,
  componentColumn,
  type NamedColumn,
  namedColumns,
  type StoredSample,
} from '../../../samples/sample.ts';
import type { Store } from '../../../store/index.ts';
import { nativeTask } from '../../../tasks/index.ts';
import { isLink } from '../../workspace/own-folders.ts';
import { requireRun } from '../runs.ts';
import { type ScalarEvent, tensorBoardFile, tensorBoardName } from './tensorboard.ts';

export interface ExportedFiles {
  readonly tensorboard: string;
  readonly metrics: string;
  /** null: the run has no stored completions. */
  readonly completions: string | null;
  readonly steps: number;
  readonly samples: number;
}

/** Writes everything about a run into a folder; `tensorboard --logdir` takes the folder or one above it. */
export function exportRun(store: Store, runId: number, folder: string): ExportedFiles {
  const run = requireRun(store, runId);
  refuseLink(folder);
  const rows = stepRows(store, runId);
  const names = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))].sort();
  const began = (run.startedAt ?? run.createdAt) / 1000;
  const samples = store.samples.steps(runId).flatMap((step) => store.samples.byStep(runId, step));
  const files = {
    tensorboard: join(folder, tensorBoardName(began)),
    metrics: join(folder, 'metrics.csv'),
    completions: samples.length === 0 ? null : join(folder, 'completions.parquet'),
  };
  try {
    makeFolder(folder);
    writeFileAtomic(files.tensorboard, tensorBoardFile(eventsOf(rows, began)));
    writeFileAtomic(
      files.metrics,
      csvText([
        ['step', ...names],
        ...rows.map(({ step, values }) => [step, ...names.map((name) => values[name] ?? Number.NaN)]),
      ]),
    );
    if (files.completions !== null)
      writeFileAtomic(files.completions, completionsParquet(samples, rewardNames(run.task, samples)));
  } catch (error) {
    throw writeError(error, folder, 'the export');
  }
  return { ...files, steps: rows.filter(({ step }) => step > 0).length, samples: samples.length };
}

/** A file of an export, by its name alone. */
export function exportedFile(folder: string, name: string): Blob {
  refuseLink(folder);
  if (!existsSync(folder) || !readdirSync(folder).includes(name))
    throw inputError('FILE_UNKNOWN', `${name}: the export has no such file`, 'Export the run again.');
  refuseLink(join(folder, name));
  return new Blob([readFileSync(join(folder, name))]);
}

function refuseLink(path: string): void {
  if (!isLink(path)) return;
  throw inputError(
    'EXPORT_IS_LINK',
    `${path} is a link, which Braid doesn't follow: nothing was written or read there`,
    `Remove the link from ${dirname(path)} and export the run again.`,
  );
}

interface StepRow {
  readonly step: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The components, in the task's order where it is known without its text. */
function rewardNames(task: string, samples: readonly StoredSample[]): readonly string[] {
  return (
    nativeTask(task)?.rewardNames ?? [...new Set(samples.flatMap(({ components }) => Object.keys(components)))].sort()
  );
}

/** Metrics of the steps, and of held-out evaluations at the steps after which they were made. */
function stepRows(store: Store, runId: number): StepRow[] {
  const rows = new Map<number, Record<string, number>>();
  const note = (step: number, values: Readonly<Record<string, number>>): void =>
    void rows.set(step, { ...rows.get(step), ...values });
  for (const [name, points] of Object.entries(store.metrics.seriesOf(runId, store.metrics.names(runId))))
    for (const { step, value } of points) note(step, { [name]: value });
  for (const { step, metrics, duringTraining } of store.evaluations.ofRun(runId))
    if (duringTraining) note(step, metrics);
  return [...rows].sort(([a], [b]) => a - b).map(([step, values]) => ({ step, values }));
}

/** The history has no timestamp per step: step durations are added to the start time. */
function eventsOf(rows: readonly StepRow[], began: number): ScalarEvent[] {
  let wallTime = began;
  return rows.map(({ step, values }) => {
    wallTime += values.step_time ?? 0;
    return { step, wallTime, values };
  });
}

const types = {
  text: 'STRING',
  messages: 'JSON',
  numbers: 'JSON',
  whole: 'INT32',
  number: 'DOUBLE',
  flag: 'BOOLEAN',
} as const satisfies Record<ColumnKind, ColumnSource['type']>;

/** In the order of TRL's files; what they don't have follows. */
const asTrl: readonly string[] = ['step', 'prompt', 'completion', 'components', 'advantage'];
const parquetColumns = namedColumns
  .filter(({ files }) => files?.includes('parquet'))
  .sort((a, b) => placeOf(a.name) - placeOf(b.name));

function placeOf(name: string): number {
  const place = asTrl.indexOf(name);
  return place < 0 ? asTrl.length : place;
}

/** The file; a component that did not apply is NaN. */
function completionsParquet(samples: readonly StoredSample[], rewardNames: readonly string[]): Uint8Array {
  const column = (name: string, kind: NamedColumn['kind'], of: (sample: StoredSample) => unknown): ColumnSource => ({
    name,
    data: samples.map(of),
    type: types[kind],
  });
  const others = parquetColumns.map(({ fileName }) => fileName);
  const buffer = parquetWriteBuffer({
    columnData: parquetColumns.flatMap(({ name, fileName, kind }) => {
      if (kind !== 'numbers')
        return [column(fileName, kind, (sample) => (name === 'completion' ? wholeText(sample) : sample[name]))];
      return rewardNames.map((part) =>
        column(componentColumn(part, others), 'number', ({ components }) => components[part] ?? Number.NaN),
      );
    }),
  });
  return new Uint8Array(buffer);
}
