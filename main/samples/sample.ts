/** A scored completion as a run keeps it, and the one table of its columns: database, files and pages follow it. */
import type { ChatMessage } from './chat-message.ts';
import type { SampledFacts, Written } from './completion.ts';

/** One completion of a step: text, rewards and its position in its group. */
export interface Sample extends Written, SampledFacts {
  readonly recordId: string;
  /** Which group of the step, and which completion of the group. */
  readonly group: number;
  readonly index: number;
  readonly prompt: string;
  /** The prompt as a conversation, where the record is one. */
  readonly promptMessages?: readonly ChatMessage[];
  readonly target: string;
  readonly reward: number;
  readonly advantage: number;
  readonly components: Readonly<Record<string, number>>;
  /** Tokens, including the end token. */
  readonly length: number;
  /** Why its reward failed; absent or null: it didn't. */
  readonly failure?: string | null;
}

/** A sample with its run and step. */
export interface StoredSample extends Sample {
  readonly runId: number;
  readonly step: number;
}

/** Identifies a completion: stays the same when a run rewinds and repeats the step. */
export type SampleKey = Pick<StoredSample, 'runId' | 'step' | 'group' | 'index'>;

/** How values are kept; NaN is null in the database and reads back as NaN. */
export type ColumnKind = 'text' | 'whole' | 'number' | 'flag' | 'numbers' | 'messages';

/** A file that has a column of its own for it; JSONL has everything. */
export type ColumnFile = 'csv' | 'parquet';

/** How a page shows a figure. */
export interface ShownAs {
  /** Before and after the number; of a whole number, the unit is a noun. */
  readonly label?: string;
  readonly unit?: string;
  /** With its sign, plus too. */
  readonly signed?: boolean;
  readonly title?: string;
}

/** A field of a record in the database. */
export interface StoredColumn {
  readonly kind: ColumnKind;
  /** Its name in the database, where that isn't the field's in snake case. */
  readonly column?: string;
  /** Null in the database is a field that the record doesn't have. */
  readonly optional?: boolean;
}

export interface SampleColumn extends StoredColumn {
  /** A text that is only read with the whole sample. */
  readonly isText?: boolean;
  readonly files?: readonly ColumnFile[];
  readonly shown?: ShownAs;
}

/** What a model wrote, wherever it is kept. */
export const writtenColumns = {
  completion: { kind: 'text', isText: true, files: ['csv', 'parquet'] },
  messages: { kind: 'messages', column: 'messages_json', isText: true, optional: true },
} as const satisfies { readonly [Name in keyof Written]-?: SampleColumn };

const { completion, ...otherWritten } = writtenColumns;

/** In the order of files and pages. */
export const sampleColumns = {
  runId: { kind: 'whole', files: ['csv'] },
  step: { kind: 'whole', files: ['csv', 'parquet'] },
  group: { kind: 'whole', column: 'group_index', files: ['csv'] },
  index: { kind: 'whole', column: 'sample_index', files: ['csv'] },
  recordId: { kind: 'text', files: ['csv'] },
  reward: { kind: 'number', files: ['csv'] },
  advantage: {
    kind: 'number',
    files: ['csv', 'parquet'],
    shown: { label: 'adv', signed: true, title: 'Advantage: how much better than its group' },
  },
  length: { kind: 'whole', files: ['csv'], shown: { unit: 'token' } },
  terminated: { kind: 'flag', files: ['csv'] },
  components: { kind: 'numbers', column: 'components_json', files: ['csv', 'parquet'] },
  failure: { kind: 'text' },
  completion,
  target: { kind: 'text', isText: true, files: ['csv'] },
  prompt: { kind: 'text', isText: true, files: ['csv', 'parquet'] },
  promptMessages: { kind: 'messages', column: 'prompt_messages_json', isText: true, optional: true },
  ...otherWritten,
} as const satisfies { readonly [Name in keyof StoredSample]-?: SampleColumn };

type TextName = {
  [Name in keyof typeof sampleColumns]: (typeof sampleColumns)[Name] extends { isText: true } ? Name : never;
}[keyof typeof sampleColumns];

/** A sample without its texts. */
export type SampleFacts = Omit<StoredSample, TextName>;

export const factColumns = Object.fromEntries(
  Object.entries<SampleColumn>(sampleColumns).filter(([, { isText = false }]) => !isText),
) as Readonly<Record<keyof SampleFacts, SampleColumn>>;

/** A column with its field's name, and the name that files give it. */
export interface NamedColumn extends SampleColumn {
  readonly name: keyof StoredSample;
  readonly fileName: string;
}

export const namedColumns: readonly NamedColumn[] = (Object.keys(sampleColumns) as (keyof StoredSample)[]).map(
  (name) => ({ name, fileName: snakeCase(name), ...sampleColumns[name] }),
);

/** A figure that pages show of each sample. */
export interface ShownColumn extends ShownAs {
  readonly name: keyof StoredSample;
  readonly kind: ColumnKind;
}

export const shownColumns: readonly ShownColumn[] = namedColumns.flatMap(({ name, kind, shown }) =>
  shown === undefined ? [] : [{ name, kind, ...shown }],
);

/** A component's column in a table that has these others: a reward may have the name of one. */
export function componentColumn(component: string, others: readonly string[]): string {
  return others.includes(component) ? `rewards/${component}` : component;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
