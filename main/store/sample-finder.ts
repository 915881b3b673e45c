/**
 * Finding completions by what they scored and said. Filters are answered from indexes alone; texts are read only for
 * the page that is on show.
 */
import type { Db } from './open.ts';
import { parseSample, type RawSample, type StoredSample, sampleFields, searchQuery } from './samples.ts';

export interface SampleFilter {
  readonly runId?: number | undefined;
  readonly step?: number | undefined;
  readonly group?: number | undefined;
  readonly recordId?: string | undefined;
  readonly below?: number | undefined;
  readonly above?: number | undefined;
  /** Only those that match their target word by word, or only the others. */
  readonly exact?: boolean | undefined;
  readonly terminated?: boolean | undefined;
  readonly component?: ComponentFilter | undefined;
  /** Words that must all occur; the last may be the beginning of a word. */
  readonly words?: string | undefined;
  /** Search prompts too, not completions alone. */
  readonly inPrompts?: boolean | undefined;
}

export interface ComponentFilter {
  readonly name: string;
  readonly below?: number | undefined;
  readonly above?: number | undefined;
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

/** Statements are made of a filter's parts and kept by their text. */
export function openSampleFinder(db: Db) {
  const prepared = new Map<string, ReturnType<typeof db.prepare>>();
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };

  const byId = db.prepare<[string], RawSample>(
    `select ${sampleFields} from json_each(?) wanted join sample on sample.id = wanted.value order by wanted.key`,
  );

  return {
    count(filter: SampleFilter): number {
      const where = conditionsOf(filter);
      if (where === null) return 0;
      return prepare(`select count(*) from sample ${where.sql}`).pluck().get(where.values) as number;
    },
    /** The rows that the filter means, by their ids; without a limit all of them. */
    ids(filter: SampleFilter, order: SampleOrder, limit = -1, offset = 0): number[] {
      const where = conditionsOf(filter);
      if (where === null) return [];
      const sql = `select sample.id from sample ${where.sql} order by ${orders[order]} limit @limit offset @offset`;
      return prepare(sql)
        .pluck()
        .all({ ...where.values, limit, offset }) as number[];
    },
    /** Rows by their ids, in that order; one that is gone by now is left out. */
    read: (ids: readonly number[]): StoredSample[] => byId.all(JSON.stringify(ids)).map(parseSample),
  } as const;
}

export type SampleFinder = ReturnType<typeof openSampleFinder>;

function searchOf({ words = '', inPrompts = false }: SampleFilter): string {
  const query = searchQuery(words);
  return query === '' || inPrompts ? query : `completion : (${query})`;
}

/** The `where` of a filter; null where it can mean nothing: a search without a single letter. */
function conditionsOf(filter: SampleFilter): Condition | null {
  const { words, component } = filter;
  const query = searchOf(filter);
  if (words !== undefined && words.trim() !== '' && query === '') return null;
  const equal = (column: string, name: string, value: string | number | undefined): Condition[] =>
    value === undefined ? [] : [{ sql: `sample.${column} = @${name}`, values: { [name]: value } }];
  const { terminated, exact } = filter;
  const parts = [
    ...equal('run_id', 'runId', filter.runId),
    ...equal('step', 'step', filter.step),
    ...equal('group_index', 'groupIndex', filter.group),
    ...equal('record_id', 'recordId', filter.recordId),
    ...equal('terminated', 'terminated', terminated === undefined ? undefined : Number(terminated)),
    ...bounds('sample.reward', 'reward', filter),
    ...(exact === undefined ? [] : [{ sql: `sample.id ${exact ? '' : 'not'} in (${EXACT})`, values: {} }]),
    ...(component === undefined ? [] : componentOf(component)),
    ...(query === ''
      ? []
      : [
          { sql: 'sample.id in (select rowid from sample_search where sample_search match @query)', values: { query } },
        ]),
  ];
  return {
    sql: parts.length === 0 ? '' : `where ${parts.map(({ sql }) => sql).join(' and ')}`,
    values: Object.assign({}, ...parts.map(({ values }) => values)) as Values,
  };
}

/** Alignment 1 is a completion that has exactly the target's words. */
const EXACT = "select sample_id from sample_part where name = 'alignment' and value = 1";

function componentOf({ name, ...limits }: ComponentFilter): Condition[] {
  const parts = bounds('value', 'component', limits);
  const within = ['name = @componentName', ...parts.map(({ sql }) => sql)].join(' and ');
  const values = Object.assign({ componentName: name }, ...parts.map((part) => part.values)) as Values;
  return [{ sql: `sample.id in (select sample_id from sample_part where ${within})`, values }];
}

/** Bounds leave their own value out: "below 0.5". */
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
