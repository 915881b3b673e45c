/**
 * Finds completions by score and text. Filters use indexes only; texts are read only for the page shown, and for words
 * of scripts without spaces.
 */
import type { StoredSample } from '../samples/sample.ts';
import type { Db } from './open.ts';
import type { RecordRow } from './record-rows.ts';
import { sampleRows, searchQuery, unspacedTerms } from './samples.ts';

export interface SampleFilter {
  readonly runId?: number | undefined;
  readonly step?: number | undefined;
  readonly group?: number | undefined;
  readonly recordId?: string | undefined;
  readonly below?: number | undefined;
  readonly above?: number | undefined;
  /** Only exact matches of their target, or only the others. */
  readonly exact?: boolean | undefined;
  readonly terminated?: boolean | undefined;
  readonly component?: ComponentFilter | undefined;
  /** Words that must all occur; the last may be a prefix. */
  readonly words?: string | undefined;
  /** Search prompts too, not completions alone. */
  readonly inPrompts?: boolean | undefined;
}

export interface ComponentFilter {
  readonly name: string;
  readonly below?: number | undefined;
  readonly above?: number | undefined;
}

export interface SampleCount {
  readonly count: number;
  /** Counting stopped here; there are more. */
  readonly isMore: boolean;
}

export type SampleOrder = 'newest' | 'lowest' | 'highest';

const orders: Readonly<Record<SampleOrder, string>> = {
  newest: 'sample.id desc',
  lowest: 'sample.reward asc nulls last, sample.id desc',
  highest: 'sample.reward desc nulls last, sample.id desc',
};

type Values = Readonly<Record<string, string | number>>;

interface Condition {
  readonly sql: string;
  readonly values: Values;
}

/** A filter as SQL: source and conditions. */
interface Question extends Condition {
  /** Whether the text search is the outer query: its rows come ordered by completion id. */
  readonly bySearch: boolean;
}

/** Completions are counted up to here: counting every match of a loose filter would take too long. */
const COUNTED = 10_000;

/** Up to this many rows of `sample_part` are collected first; with more, each completion is checked for one. */
const FEW = 40_000;

/** Statements are composed from a filter's parts and cached by their text. */
export function openSampleFinder(db: Db) {
  const prepared = new Map<string, ReturnType<typeof db.prepare>>();
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  const numbers = (sql: string, values: Values): number[] => prepare(sql).pluck().all(values) as number[];
  const isFew = ({ sql, values }: Condition): boolean =>
    numbers(`select 1 from sample_part part where ${sql} limit ${FEW + 1}`, values).length <= FEW;

  const byId = db.prepare<[string], RecordRow>(
    `select ${sampleRows.selected} from json_each(?) wanted join sample on sample.id = wanted.value order by wanted.key`,
  );

  return {
    /** How many match a filter, up to the counting limit. */
    count(filter: SampleFilter): SampleCount {
      const asked = questionOf(filter, isFew);
      if (asked === null) return { count: 0, isMore: false };
      const [count = 0] = numbers(
        `select count(*) from (select 1 from ${asked.sql} limit ${COUNTED + 1})`,
        asked.values,
      );
      return { count: Math.min(count, COUNTED), isMore: count > COUNTED };
    },
    /** The ids of the matching rows; all of them without a limit. */
    ids(filter: SampleFilter, order: SampleOrder, limit = -1, offset = 0): number[] {
      const asked = questionOf(filter, isFew);
      if (asked === null) return [];
      const by = asked.bySearch && order === 'newest' ? 'found.rowid desc' : orders[order];
      const sql = `select sample.id from ${asked.sql} order by ${by} limit @limit offset @offset`;
      return numbers(sql, { ...asked.values, limit, offset });
    },
    /** Rows by id, in that order; deleted ones are left out. */
    read: (ids: readonly number[]): StoredSample[] => byId.all(JSON.stringify(ids)).map(sampleRows.fromRow),
  } as const;
}

function searchOf({ words = '', inPrompts = false }: SampleFilter): string {
  const query = searchQuery(words);
  return query === '' || inPrompts ? query : `completion : (${query})`;
}

/** A filter as SQL; null if it can't match anything: a search without a single letter. */
function questionOf(filter: SampleFilter, isFew: (parts: Condition) => boolean): Question | null {
  const { words, component, terminated, exact } = filter;
  const query = searchOf(filter);
  const unspaced = unspacedTerms(words ?? '');
  if (words !== undefined && words.trim() !== '' && query === '' && unspaced.length === 0) return null;
  const bySearch = query !== '';
  const equal = (column: string, name: string, value: string | number | undefined): Condition[] =>
    value === undefined ? [] : [{ sql: `sample.${column} = @${name}`, values: { [name]: value } }];
  // With the text search first, each completion it finds can be checked directly.
  const among = (parts: Condition): Condition => ({
    sql:
      bySearch || !isFew(parts)
        ? `exists (select 1 from sample_part part where part.sample_id = sample.id and ${parts.sql})`
        : `sample.id in (select part.sample_id from sample_part part where ${parts.sql})`,
    values: parts.values,
  });
  const conditions = [
    ...(bySearch ? [{ sql: 'found.sample_search match @query', values: { query } }] : []),
    ...unspaced.map((text, i) => holding(text, `text${i}`, filter)),
    ...equal('run_id', 'runId', filter.runId),
    ...equal('step', 'step', filter.step),
    ...equal('group_index', 'groupIndex', filter.group),
    ...equal('record_id', 'recordId', filter.recordId),
    ...equal('terminated', 'terminated', terminated === undefined ? undefined : Number(terminated)),
    ...bounds('sample.reward', 'reward', filter),
    ...(exact === undefined ? [] : [exact ? among(EXACT) : not(among(EXACT))]),
    ...(component === undefined ? [] : [among(partsOf(component))]),
  ];
  // A cross join keeps the order: the search first.
  const source = bySearch ? 'sample_search found cross join sample on sample.id = found.rowid' : 'sample';
  const where = conditions.length === 0 ? '' : ` where ${conditions.map(({ sql }) => sql).join(' and ')}`;
  return {
    bySearch,
    sql: source + where,
    values: Object.assign({}, ...conditions.map(({ values }) => values)) as Values,
  };
}

function holding(text: string, name: string, { inPrompts = false }: SampleFilter): Condition {
  const texts = inPrompts ? ['completion', 'prompt'] : ['completion'];
  const sql = texts.map((column) => `instr(sample.${column}, @${name}) > 0`).join(' or ');
  return { sql: `(${sql})`, values: { [name]: text } };
}

function not({ sql, values }: Condition): Condition {
  return { sql: `not (${sql})`, values };
}

/** Alignment 1 means exactly the target's words. */
const EXACT: Condition = { sql: "part.name = 'alignment' and part.value = 1", values: {} };

function partsOf({ name, ...limits }: ComponentFilter): Condition {
  const parts = bounds('part.value', 'component', limits);
  return {
    sql: ['part.name = @componentName', ...parts.map(({ sql }) => sql)].join(' and '),
    values: Object.assign({ componentName: name }, ...parts.map(({ values }) => values)) as Values,
  };
}

/** Bounds are exclusive: "below 0.5". */
function bounds(
  column: string,
  name: string,
  { below, above }: { readonly below?: number | undefined; readonly above?: number | undefined },
): Condition[] {
  return [
    ...(below === undefined ? [] : [{ sql: `${column} < @${name}Below`, values: { [`${name}Below`]: below } }]),
    ...(above === undefined ? [] : [{ sql: `${column} > @${name}Above`, values: { [`${name}Above`]: above } }]),
  ];
}
