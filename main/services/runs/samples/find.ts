/** Search over the completions of all runs by score and text: counts, pages, export. */
import { setImmediate } from 'node:timers/promises';
import { csvText } from '../../../io/csv.ts';
import {
  type NamedColumn,
  namedColumns,
  type SampleFacts,
  type StoredSample,
  snakeCase,
} from '../../../samples/sample.ts';
import type { Store } from '../../../store/index.ts';
import type { SampleFilter, SampleOrder } from '../../../store/sample-finder.ts';
import { excerptOf, hasHit, type Segment } from './excerpt.ts';

/** A completion in the list. */
export interface FoundSample extends SampleFacts {
  readonly runName: string;
  readonly excerpt: readonly Segment[];
}

export interface PageOptions {
  readonly order: SampleOrder;
  readonly limit: number;
  readonly offset: number;
}

/** One page of matches. */
export function findSamples(store: Store, filter: SampleFilter, { order, limit, offset }: PageOptions): FoundSample[] {
  const names = new Map<number, string>();
  const nameOf = (runId: number): string => {
    const name = names.get(runId) ?? store.runs.get(runId)?.name ?? `run ${runId}`;
    names.set(runId, name);
    return name;
  };
  return store.sampleFinder.read(store.sampleFinder.ids(filter, order, limit, offset)).map((sample) => {
    const { prompt, target: _, completion, messages: __, promptMessages: ___, ...facts } = sample;
    const { words = '' } = filter;
    const text = filter.inPrompts && !hasHit(completion, words) && hasHit(prompt, words) ? prompt : completion;
    return { ...facts, runName: nameOf(sample.runId), excerpt: excerptOf(text, words) };
  });
}

export type ExportFormat = 'jsonl' | 'csv';

/** A chunk of a file, and the progress. */
export interface ExportPart {
  readonly text: string;
  readonly done: number;
  readonly total: number;
}

/** Completions per chunk: the host yields between chunks. */
const PART = 500;

/** The file of all completions that match a filter, in chunks. */
export async function* exportSamples(
  store: Store,
  filter: SampleFilter,
  order: SampleOrder,
  format: ExportFormat,
): AsyncGenerator<ExportPart> {
  const ids = store.sampleFinder.ids(filter, order);
  const components = format === 'csv' ? store.samples.componentNames() : [];
  if (format === 'csv') yield { text: csvText([csvHeader(components)]), done: 0, total: ids.length };
  for (let first = 0; first < ids.length; first += PART) {
    const samples = store.sampleFinder.read(ids.slice(first, first + PART));
    const text = samples.map((sample) => (format === 'csv' ? csvRow(sample, components) : jsonRow(sample))).join('');
    yield { text, done: Math.min(first + PART, ids.length), total: ids.length };
    await setImmediate();
  }
}

function jsonRow(sample: StoredSample): string {
  const named = Object.entries(sample).map(([name, value]) => [snakeCase(name), value]);
  return `${JSON.stringify(Object.fromEntries(named))}\n`;
}

const csvColumns = namedColumns.filter(({ files }) => files?.includes('csv'));

function csvHeader(components: readonly string[]): string[] {
  return csvColumns.flatMap(({ kind, fileName }) =>
    kind === 'numbers' ? components.map((name) => `component_${name}`) : [fileName],
  );
}

function csvRow(sample: StoredSample, components: readonly string[]): string {
  return csvText([csvColumns.flatMap((column) => csvFields(sample, column, components))]);
}

function csvFields(
  sample: StoredSample,
  { name, kind }: NamedColumn,
  components: readonly string[],
): (string | number)[] {
  if (kind === 'numbers') return components.map((component) => sample.components[component] ?? Number.NaN);
  const value = sample[name] ?? '';
  if (typeof value === 'number') return [value];
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
}
