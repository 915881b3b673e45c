/** What an import would give: the records on both sides, or every fault with its place. */
import { BraidError } from '../../../errors.ts';
import { describeFault, type FileFault, faultsError } from '../../../io/text-file.ts';
import type { ChatMessage } from '../../../samples/chat-message.ts';
import { promptMessages } from '../../../tasks/folder/environment.ts';
import { openTask, type TaskSource } from '../../../tasks/index.ts';
import type { Task, TaskRecord } from '../../../tasks/task.ts';
import { quotedWarning, usualQuoting } from '../../../text/quoted-tokens.ts';
import { type DatasetFiles, writeDataset } from '../files.ts';
import { findRecordLeakage, type Leakage } from '../leakage.ts';
import { type KnownModel, unwritableWarning } from '../unwritable.ts';
import {
  checkMapping,
  type DecimalMarks,
  decimalMarks,
  fieldValue,
  guessMapping,
  type Mapping,
  mapRow,
  numbersInTexts,
  type TaskField,
  taskFields,
  valueAt,
} from './mapping.ts';
import { type Noted, recordNotes } from './record-notes.ts';
import { lostTurns, mediaBeside, rowHints } from './row-hints.ts';
import { type Filter, filterRows, type Mapped, sampleRows, splitRows, withoutDuplicates } from './select.ts';
import { type Row, readTable, type Table } from './table.ts';

export interface ImportOptions extends RowOptions {
  /** Files on this machine, read one after the other. */
  readonly files: readonly string[];
  /** Files of held-out rows; none: they are split off. */
  readonly testFiles: readonly string[];
}

/** How rows become records, wherever they are from. */
export interface RowOptions {
  readonly task: TaskSource;
  /** Over the guessed one; a field with an empty column is left out. */
  readonly map: Mapping;
  readonly filters: readonly Filter[];
  readonly sample: number | null;
  readonly dedupe: boolean;
  readonly splitBy: string | null;
  readonly testShare: number;
  readonly seed: number;
  /** The model that is likely to be trained; null or absent: it isn't known. */
  readonly model?: KnownModel | null;
}

/** A record as it would be written, and as a prompt. */
export interface PlannedRecord {
  readonly line: number;
  readonly id: string;
  readonly prompt: string;
  readonly messages: readonly ChatMessage[] | null;
  readonly reference: string;
}

export interface ImportPlan {
  readonly columns: readonly string[];
  /** The first rows of the source. */
  readonly rows: readonly Row['values'][];
  readonly fields: readonly TaskField[];
  /** As it is used, guesses included. */
  readonly mapping: Mapping;
  /** What each mapped field gets of the first row. */
  readonly first: Readonly<Record<string, unknown>>;
  /** Why it can't be imported as it is: mapping, filters or split. null: it can, but for `faults`. */
  readonly problem: ImportProblem | null;
  readonly counts: ImportCounts;
  /** The first faults, a sentence each with file and line; there may be more. */
  readonly faults: readonly string[];
  readonly train: readonly PlannedRecord[];
  readonly test: readonly PlannedRecord[];
  readonly leakage: Leakage | null;
  /** What to say of control tokens that its texts quote; null: they quote none. */
  readonly quoted: string | null;
  /** What to say of words that the model can't write; null: it can write all. */
  readonly unwritable: string | null;
  /** What was read in another way than it is written. */
  readonly notes: readonly string[];
}

export interface ImportProblem {
  readonly message: string;
  readonly remedy: string | null;
  /** Whether it is about the file or split of the held-out rows. */
  readonly isHeldOut: boolean;
}

export interface ImportCounts {
  /** Of the source, and of the held-out rows' own. */
  readonly rows: number;
  /** Left out by filters and sampling. */
  readonly leftOut: number;
  readonly duplicates: number;
  readonly faults: number;
  readonly train: number;
  readonly test: number;
}

/** Rows and records that a preview shows. */
const SHOWN = 20;

/** Reads the held-out rows; null: they are split off. */
type HeldOut = () => Promise<Table | null>;

interface Prepared {
  readonly rows: number;
  readonly mapping: Mapping;
  readonly marks: DecimalMarks;
  readonly task: Task;
  readonly leftOut: number;
  readonly duplicates: number;
  readonly faults: readonly FileFault[];
  readonly train: readonly Parsed[];
  readonly test: readonly Parsed[];
}

interface Parsed extends Noted {
  readonly record: TaskRecord;
}

/** Previews an import; nothing is written. */
export async function planImport(options: ImportOptions): Promise<ImportPlan> {
  return planRows(options, await readTable(options.files), heldOutOf(options));
}

/** Previews an import of rows that are in no file yet. */
export async function planRows(options: RowOptions, table: Table, heldOut: HeldOut): Promise<ImportPlan> {
  const fields = taskFields(options.task);
  const mapping = mappingOf(options, fields, table);
  const shown = {
    columns: table.columns,
    rows: table.rows.slice(0, SHOWN).map(({ values }) => values),
    fields,
    mapping,
    notes: table.notes ?? [],
  };
  try {
    const { task, rows, marks, leftOut, duplicates, faults, train, test } = await prepare(options, table, heldOut);
    const counts = { rows, leftOut, duplicates, faults: faults.length };
    return {
      ...shown,
      first: firstValues(table, mapping, fields, marks),
      problem: null,
      notes: [...shown.notes, ...recordNotes(fields, mapping, [...train, ...test])],
      faults: faults.slice(0, SHOWN).map(describeFault),
      counts: { ...counts, train: train.length, test: test.length },
      train: train.slice(0, SHOWN).map((one) => planned(task, one)),
      test: test.slice(0, SHOWN).map((one) => planned(task, one)),
      leakage: leakageOf(task, train, test),
      quoted: quotedIn(task, [...train, ...test]),
      unwritable: unwritableIn(options, task, [...train, ...test]),
    };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    const isHeldOut = error instanceof HeldOutError;
    const problem = { message: error.message, remedy: error.remedy ?? null, isHeldOut };
    const counts = { rows: table.rows.length, leftOut: 0, duplicates: 0, faults: 0, train: 0, test: 0 };
    return {
      ...shown,
      first: firstValues(table, mapping, fields, decimalMarks(table.rows, mapping, fields)),
      problem,
      counts,
      faults: [],
      train: [],
      test: [],
      leakage: null,
      quoted: null,
      unwritable: null,
    };
  }
}

function firstValues(
  { rows }: Table,
  mapping: Mapping,
  fields: readonly TaskField[],
  marks: DecimalMarks,
): ImportPlan['first'] {
  const { values = {} } = rows[0] ?? {};
  return Object.fromEntries(
    Object.entries(mapping).map(([name, column]) => {
      const field = fields.find((one) => one.name === name);
      return [name, (field ? fieldValue(values, column, field, marks) : valueAt(values, column)) ?? null];
    }),
  );
}

export interface WrittenImport
  extends Pick<ImportPlan, 'mapping' | 'counts' | 'leakage' | 'quoted' | 'unwritable' | 'notes'> {
  readonly files: DatasetFiles;
}

/** Writes the dataset, if no row has a fault: otherwise an error lists them, and nothing is written. */
export async function writeImport(options: ImportOptions & { readonly target: string }): Promise<WrittenImport> {
  const table = await readTable(options.files);
  const prepared = await prepare(options, table, heldOutOf(options));
  const { task, mapping, rows, leftOut, duplicates, faults, train, test } = prepared;
  if (faults.length > 0)
    throw faultsError(
      'BAD_SOURCE',
      faults,
      'Nothing was imported. Fix these rows, map other columns, or filter them out.',
    );
  const written = (of: readonly Parsed[]) =>
    of.map(({ fields, record }) => ({ ...fields, id: record.id }) as TaskRecord);
  // The files last: what takes long, and may be interrupted, leaves none that are in no list.
  const [leakage, quoted] = [leakageOf(task, train, test), quotedIn(task, [...train, ...test])];
  const unwritable = unwritableIn(options, task, [...train, ...test]);
  return {
    files: writeDataset(options.target, { train: written(train), test: written(test) }),
    mapping,
    counts: { rows, leftOut, duplicates, faults: 0, train: train.length, test: test.length },
    leakage,
    quoted,
    unwritable,
    notes: [...(table.notes ?? []), ...recordNotes(taskFields(options.task), mapping, [...train, ...test])],
  };
}

/** What is wrong with the file or split of the held-out rows. */
class HeldOutError extends BraidError {}

function heldOutOf({ testFiles }: ImportOptions): HeldOut {
  return async () => (testFiles.length === 0 ? null : readTable(testFiles));
}

/** The held-out rows of their own file or split; null: they are split off. */
async function chooseHeldOut(
  heldOut: HeldOut,
  table: Table,
  options: RowOptions,
  mapping: Mapping,
  fields: readonly TaskField[],
): Promise<(ReturnType<typeof chooseRows> & { readonly rows: number; readonly marks: DecimalMarks }) | null> {
  try {
    const own = await heldOut();
    if (own === null) return null;
    // Numbers are written in one way on both sides, of which one alone may not show which. A sample is of the training rows.
    const marks = decimalMarks([...table.rows, ...own.rows], mapping, fields);
    return { ...chooseRows(own, { ...options, sample: null }, mapping, fields, marks), rows: own.rows.length, marks };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    const { code, message, kind, remedy } = error;
    throw new HeldOutError(code, message, { kind, ...(remedy !== undefined && { remedy }), cause: error });
  }
}

function mappingOf({ map }: RowOptions, fields: readonly TaskField[], { columns, rows }: Table): Mapping {
  const all = { ...numbersInTexts(guessMapping(fields, columns, rows[0]), fields, rows[0]), ...map };
  return Object.fromEntries(Object.entries(all).filter(([, column]) => column !== ''));
}

async function prepare(options: RowOptions, table: Table, heldOut: HeldOut): Promise<Prepared> {
  const fields = taskFields(options.task);
  const task = openTask(options.task, '');
  const mapping = mappingOf(options, fields, table);
  checkMapping(mapping, fields, table.columns, table.unreadable, table.rows[0]);
  const held = await chooseHeldOut(heldOut, table, options, mapping, fields);
  const marks = held?.marks ?? decimalMarks(table.rows, mapping, fields);
  const chosen = chooseRows(table, options, mapping, fields, marks);
  const split = { by: options.splitBy, share: options.testShare, seed: options.seed };
  const sides =
    held === null ? splitRows(chosen.mapped, split, table.columns) : { train: chosen.mapped, test: held.mapped };
  const faults: FileFault[] = [];
  const ids = new Map<string, number>();
  const parse = ({ row, fields: own }: Mapped, i: number, side: string): Parsed[] => {
    // A generated id is unique over both sides, which a line number isn't.
    const named = own.id === undefined ? { ...own, id: `${side}-${i + 1}` } : own;
    try {
      const lost = lostTurns(row, mapping) ?? mediaBeside(row, mapping, fields);
      if (lost !== null) throw new Error(lost);
      const record = parseRecord(task, options.task, named, row.line);
      const first = ids.get(record.id);
      if (first !== undefined)
        throw new Error(
          `expected a unique id, got "${record.id}" as on line ${first}; without a column for id, records are numbered`,
        );
      ids.set(record.id, row.line);
      return [{ row, fields: named, record }];
    } catch (error) {
      const reason = `${(error as Error).message}${rowHints(row, mapping, fields)}`;
      faults.push({ file: row.file, line: row.line, reason });
      return [];
    }
  };
  const train = sides.train.flatMap((one, i) => parse(one, i, 'train'));
  const test = sides.test.flatMap((one, i) => parse(one, i, 'test'));
  if (faults.length === 0 && train.length === 0)
    throw new BraidError('NOTHING_TO_IMPORT', 'No row is left to train on', {
      kind: 'input',
      remedy: 'Loosen the filters, or reduce the held-out share.',
    });
  // Rows are shuffled before they are split; they are reported in the file's order.
  faults.sort((a, b) => (a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : 0));
  return {
    mapping,
    task,
    marks,
    faults,
    train,
    test,
    rows: table.rows.length + (held?.rows ?? 0),
    leftOut: chosen.leftOut + (held?.leftOut ?? 0),
    duplicates: chosen.duplicates + (held?.duplicates ?? 0),
  };
}

/** Replies lack counts more often than not: 0 then. */
function parseRecord(task: Task, source: TaskSource, fields: Mapped['fields'], line: number): TaskRecord {
  if (source !== 'reply') return task.parseRecord(fields, line);
  const engagement = { likes: 0, reposts: 0, replies: 0, ...(fields.engagement as object | undefined) };
  (fields as Record<string, unknown>).engagement = engagement;
  return task.parseRecord(fields, line);
}

function chooseRows(
  { rows, columns }: Table,
  { filters, sample, seed, dedupe }: RowOptions,
  mapping: Mapping,
  fields: readonly TaskField[],
  marks: DecimalMarks,
) {
  const kept = sampleRows(filterRows(rows, filters, columns), sample, seed);
  const all = kept.map((row): Mapped => ({ row, fields: mapRow(row, mapping, fields, marks) }));
  const mapped = dedupe ? withoutDuplicates(all) : all;
  return { mapped, leftOut: rows.length - kept.length, duplicates: all.length - mapped.length };
}

function planned(task: Task, { row, record }: Parsed): PlannedRecord {
  const { id, prompt } = record;
  const messages = record.messages === undefined ? null : promptMessages(record);
  return { line: row.line, id, prompt, messages, reference: task.target(record) };
}

/** Control tokens in what people wrote; no model is chosen yet. */
function quotedIn(task: Task, records: readonly Parsed[]): string | null {
  const texts = records.map(({ record }) => [...task.quoted(record), task.target(record)]);
  return quotedWarning(usualQuoting(texts));
}

function unwritableIn({ model }: RowOptions, task: Task, records: readonly Parsed[]): string | null {
  return unwritableWarning(
    model,
    task,
    records.map(({ record }) => record),
  );
}

function leakageOf(task: Task, train: readonly Parsed[], test: readonly Parsed[]): Leakage | null {
  if (test.length === 0) return null;
  const records = (of: readonly Parsed[]) => of.map(({ record }) => record);
  return findRecordLeakage(task, records(train), records(test));
}
