/** Metrics: one value a run, name and step. Charts read them in buckets that SQL computes. */
import { columns, fromNull } from './columns.ts';
import type { Db } from './open.ts';

export interface MetricPoint {
  readonly step: number;
  readonly value: number;
}

/** All metrics of one step. */
export interface StepMetrics {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** What one stretch of a chart shows; NaN values are left out of min, max and mean. */
export interface MetricBucket {
  readonly firstStep: number;
  readonly lastStep: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
}

/** A whole series in short; NaN where it has no number. */
export interface MetricOverall {
  /** Of its numbers: NaN values are left out. */
  readonly count: number;
  readonly mean: number;
  readonly max: number;
}

export interface StepRange {
  readonly from: number;
  readonly to: number;
}

type Nullable<T, K extends keyof T> = Omit<T, K> & { [key in K]: T[key] | null };
type RawPoint = Nullable<MetricPoint, 'value'>;
/** The parts of a bucket, in the order of the query; steps are null where a stretch has no point. */
type RawBucket = readonly [
  firstStep: number | null,
  lastStep: number,
  min: number | null,
  max: number | null,
  mean: number | null,
  count: number,
];

const seriesSql = `select ${columns(['step', 'value'])} from metric
  where run_id = @runId and key_id = (select id from metric_key where name = @name) and step between @from and @to
  order by step`;

// Each end by itself: asked for together, SQLite reads the whole series.
const boundsSql = `with key(id) as (select id from metric_key where name = @name)
  select (select min(step) from metric where run_id = @runId and key_id = key.id) as "from",
    (select max(step) from metric where run_id = @runId and key_id = key.id) as "to" from key`;

// One look into the primary key a bucket: grouping would sort every row of the series first. The parts of a bucket come
// as JSON, because a subquery gives one value. Bucket i holds the steps whose place in the range, in buckets, begins
// with i. Numbers arrive in SQL as floating point: the casts make whole ones of them.
const bucketsSql = `with recursive
  size(first, width, buckets) as (
    select cast(@from as integer), cast(@to - @from + 1 as integer), cast(@buckets as integer)
  ),
  bucket(i) as (select 0 union all select i + 1 from bucket, size where i + 1 < buckets)
  select (
    select json_array(min(step), max(step), min(value), max(value), avg(value), count(value)) from metric
    where run_id = @runId and key_id = (select id from metric_key where name = @name)
      and step >= first + (i * width + buckets - 1) / buckets
      and step < first + ((i + 1) * width + buckets - 1) / buckets
  ) from bucket, size`;

/** Steps of a block of `metric_block`, as migration 005 made the first ones. */
const BLOCK = 20;
/** Buckets this many blocks wide are made of blocks; narrower ones of steps, which makes no long reading either. */
const COARSE = 2;

// The same over blocks, for a range so long that whole blocks are fine enough.
const coarseSql = `with recursive
  size(first, width, buckets) as (
    select cast(@from as integer), cast(@to - @from + 1 as integer), cast(@buckets as integer)
  ),
  bucket(i) as (select 0 union all select i + 1 from bucket, size where i + 1 < buckets)
  select (
    select json_array(min(first_step), max(last_step), min(low), max(high), sum(total) / sum(count), sum(count))
    from metric_block
    where run_id = @runId and key_id = (select id from metric_key where name = @name)
      and block >= first + (i * width + buckets - 1) / buckets
      and block < first + ((i + 1) * width + buckets - 1) / buckets
  ) from bucket, size`;

const addToBlockSql = `insert into metric_block (run_id, key_id, block, first_step, last_step, low, high, total, count)
  values (@runId, @key, cast(@step as integer) / ${BLOCK}, @step, @step, @value, @value, @value, @value is not null)
  on conflict (run_id, key_id, block) do update set
    first_step = min(first_step, @step), last_step = max(last_step, @step),
    low = coalesce(min(low, @value), low, @value), high = coalesce(max(high, @value), high, @value),
    total = coalesce(total + @value, total, @value), count = count + (@value is not null)`;

// From its steps: for a block of which some were taken back or sent again.
const remakeBlockSql = `insert or replace into metric_block
    (run_id, key_id, block, first_step, last_step, low, high, total, count)
  select run_id, key_id, step / ${BLOCK}, min(step), max(step), min(value), max(value), sum(value), count(value)
  from metric where run_id = @runId and key_id = @key
    and step between @step - @step % ${BLOCK} and @step - @step % ${BLOCK} + ${BLOCK - 1}
  group by run_id, key_id`;

// Every step reports its time: that one key finds the steps, and each step's values are looked up by primary key
// (cross joins keep that order: SQLite would rather read all values of the run).
const afterSql = `with steps(step) as (
    select step from metric where run_id = @runId and step > @step
      and key_id = (select id from metric_key where name = 'step_time') order by step limit @limit
  )
  select steps.step, k.name, m.value from steps
  cross join metric_key k cross join metric m on m.run_id = @runId and m.key_id = k.id and m.step = steps.step
  order by steps.step`;

const everything: StepRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Statements of the tables `metric` and `metric_key`. */
export function openMetricsTable(db: Db) {
  const keyId = db.prepare<[string], number>('select id from metric_key where name = ?').pluck();
  const addKey = db.prepare<[string]>('insert into metric_key (name) values (?)');
  type Value = { readonly runId: number; readonly key: number; readonly step: number; readonly value: number };
  const insert = db.prepare<Value>(
    'insert into metric (run_id, key_id, step, value) values (@runId, @key, @step, @value) on conflict do nothing',
  );
  const overwrite = db.prepare<Value>(
    'update metric set value = @value where run_id = @runId and key_id = @key and step = @step',
  );
  const addToBlock = db.prepare<Value>(addToBlockSql);
  const remakeBlock = db.prepare<Omit<Value, 'value'>>(remakeBlockSql);
  const series = db.prepare<StepRange & { runId: number; name: string }, RawPoint>(seriesSql);
  const bounds = db.prepare<{ runId: number; name: string }, { from: number | null; to: number | null }>(boundsSql);
  const buckets = db.prepare<StepRange & { runId: number; name: string; buckets: number }, string>(bucketsSql).pluck();
  const coarse = db.prepare<StepRange & { runId: number; name: string; buckets: number }, string>(coarseSql).pluck();
  const keys = db
    .prepare<[number], string>(
      `select name from metric_key k where exists (select 1 from metric where run_id = ? and key_id = k.id) order by name`,
    )
    .pluck();
  // One look into the primary key per metric, however long the series.
  const latest = db.prepare<{ runId: number }, RawPoint & { name: string }>(
    `select k.name, m.step, m.value from metric_key k
     cross join metric m on m.run_id = @runId and m.key_id = k.id
       and m.step = (select max(step) from metric where run_id = @runId and key_id = k.id)
     order by k.name`,
  );
  const latestAmong = db.prepare<{ runIds: string; names: string }, RawPoint & { runId: number; name: string }>(
    `select run.value as "runId", k.name, m.step, m.value from json_each(@runIds) run cross join json_each(@names) wanted
     cross join metric_key k on k.name = wanted.value
     cross join metric m on m.run_id = run.value and m.key_id = k.id
       and m.step = (select max(step) from metric where run_id = run.value and key_id = k.id)`,
  );
  const overall = db.prepare<
    { runId: number; name: string },
    { count: number; mean: number | null; max: number | null }
  >(
    `select coalesce(sum(count), 0) as count, sum(total) / sum(count) as mean, max(high) as max from metric_block
     where run_id = @runId and key_id = (select id from metric_key where name = @name)`,
  );
  const after = db.prepare<{ runId: number; step: number; limit: number }, RawPoint & { name: string }>(afterSql);
  const clear = db.prepare<[number, number]>('delete from metric where run_id = ? and step > ?');
  const clearBlocks = db.prepare<[number, number]>('delete from metric_block where run_id = ? and last_step > ?');
  const allKeys = db.prepare<[], number>('select id from metric_key').pluck();

  function write(row: Value): void {
    if (insert.run(row).changes === 1) {
      addToBlock.run(row);
      return;
    }
    const { value: _, ...place } = row;
    overwrite.run(row);
    remakeBlock.run(place);
  }

  function readSeries(runId: number, name: string, range: StepRange = everything): MetricPoint[] {
    return series.all({ runId, name, ...range }).map((point) => ({ ...point, value: fromNull(point.value) }));
  }

  function readLatest(runIds: readonly number[], names: readonly string[]) {
    return latestAmong.all({ runIds: JSON.stringify(runIds), names: JSON.stringify(names) });
  }

  function readBounds(runId: number, name: string): StepRange | null {
    const { from = null, to = null } = bounds.get({ runId, name }) ?? {};
    return from === null || to === null ? null : { from, to };
  }

  function readBuckets(runId: number, name: string, count: number, range?: StepRange): MetricBucket[] {
    const found = range ?? readBounds(runId, name);
    if (found === null) return [];
    const { from, to } = found;
    const size = Math.max(1, Math.min(count, to - from + 1));
    const isCoarse = (to - from + 1) / size >= COARSE * BLOCK;
    const rows = isCoarse
      ? coarse.all({ runId, name, from: Math.floor(from / BLOCK), to: Math.floor(to / BLOCK), buckets: size })
      : buckets.all({ runId, name, from, to, buckets: size });
    return rows.flatMap((row) => toBucket(JSON.parse(row) as RawBucket));
  }

  return {
    /** Stores a step's metrics; a step stored before is overwritten. */
    record(runId: number, step: number, metrics: Readonly<Record<string, number>>): void {
      for (const [name, value] of Object.entries(metrics)) {
        // Not cached: a key that was added in a transaction that failed would be remembered wrongly.
        const key = keyId.get(name) ?? Number(addKey.run(name).lastInsertRowid);
        write({ runId, key, step, value });
      }
    },
    /** All metrics of the steps after `step`, at most `limit` steps, in order; a step counts once it tells `step_time`. */
    after(runId: number, step: number, limit: number): StepMetrics[] {
      const steps = new Map<number, Record<string, number>>();
      for (const row of after.all({ runId, step, limit })) {
        const metrics = steps.get(row.step) ?? {};
        metrics[row.name] = fromNull(row.value);
        steps.set(row.step, metrics);
      }
      return [...steps].map(([at, metrics]) => ({ step: at, metrics }));
    },
    /** Every point of one metric, or of a range of steps, both ends included. */
    series: readSeries,
    /** Several metrics at once, by name. */
    seriesOf: (runId: number, names: readonly string[], range?: StepRange): Readonly<Record<string, MetricPoint[]>> =>
      Object.fromEntries(names.map((name) => [name, readSeries(runId, name, range)])),
    /** At most `count` buckets of equal width over the range (by default the whole series). */
    buckets: readBuckets,
    /** Buckets of several metrics at once, by name. */
    bucketsOf: (
      runId: number,
      names: readonly string[],
      count: number,
      range?: StepRange,
    ): Readonly<Record<string, MetricBucket[]>> =>
      Object.fromEntries(names.map((name) => [name, readBuckets(runId, name, count, range)])),
    /** From its blocks, not from each step. */
    overall(runId: number, name: string): MetricOverall {
      const { count = 0, mean = null, max = null } = overall.get({ runId, name }) ?? {};
      return { count, mean: fromNull(mean), max: fromNull(max) };
    },
    /** The first and the last step; null where the run has no such metric. */
    bounds: readBounds,
    /** The metrics that a run has. */
    names: (runId: number): string[] => keys.all(runId),
    /** The newest value of each metric. */
    latest: (runId: number): Readonly<Record<string, MetricPoint>> => newest(latest.all({ runId })),
    /** The same of a few metrics. */
    latestOf: (runId: number, names: readonly string[]): Readonly<Record<string, MetricPoint>> =>
      newest(readLatest([runId], names)),
    /** The same of many runs at once, by run id; one without any of the metrics is left out. */
    latestOfRuns: (
      runIds: readonly number[],
      names: readonly string[],
    ): ReadonlyMap<number, Readonly<Record<string, MetricPoint>>> =>
      new Map([...Map.groupBy(readLatest(runIds, names), ({ runId }) => runId)].map(([id, of]) => [id, newest(of)])),
    discardAfter(runId: number, step: number): number {
      const { changes } = clear.run(runId, step);
      clearBlocks.run(runId, step);
      // The block that the step is in the middle of.
      for (const key of allKeys.all()) remakeBlock.run({ runId, key, step });
      return changes;
    },
  } as const;
}

export type MetricsTable = ReturnType<typeof openMetricsTable>;

function toBucket([firstStep, lastStep, min, max, mean, count]: RawBucket): readonly MetricBucket[] {
  if (firstStep === null) return [];
  return [{ firstStep, lastStep, min: fromNull(min), max: fromNull(max), mean: fromNull(mean), count }];
}

function newest(rows: readonly (RawPoint & { readonly name: string })[]): Readonly<Record<string, MetricPoint>> {
  return Object.fromEntries(rows.map(({ name, step, value }) => [name, { step, value: fromNull(value) }]));
}
