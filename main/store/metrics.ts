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

const boundsSql = `select min(step) as "from", max(step) as "to" from metric
  where run_id = ? and key_id = (select id from metric_key where name = ?)`;

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
  const upsert = db.prepare<[number, number, number, number]>(
    `insert into metric (run_id, key_id, step, value) values (?, ?, ?, ?)
     on conflict (run_id, key_id, step) do update set value = excluded.value`,
  );
  const series = db.prepare<StepRange & { runId: number; name: string }, RawPoint>(seriesSql);
  const bounds = db.prepare<[number, string], { from: number | null; to: number | null }>(boundsSql);
  const buckets = db.prepare<StepRange & { runId: number; name: string; buckets: number }, string>(bucketsSql).pluck();
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
  const latestAmong = db.prepare<{ runId: number; names: string }, RawPoint & { name: string }>(
    `select k.name, m.step, m.value from json_each(@names) wanted cross join metric_key k on k.name = wanted.value
     cross join metric m on m.run_id = @runId and m.key_id = k.id
       and m.step = (select max(step) from metric where run_id = @runId and key_id = k.id)`,
  );
  const after = db.prepare<{ runId: number; step: number; limit: number }, RawPoint & { name: string }>(afterSql);
  const clear = db.prepare<[number, number]>('delete from metric where run_id = ? and step > ?');

  function readSeries(runId: number, name: string, range: StepRange = everything): MetricPoint[] {
    return series.all({ runId, name, ...range }).map((point) => ({ ...point, value: fromNull(point.value) }));
  }

  function readBuckets(runId: number, name: string, count: number, range?: StepRange): MetricBucket[] {
    const found = range ?? bounds.get(runId, name);
    if (found === undefined || found.from === null || found.to === null) return [];
    const { from, to } = found;
    const rows = buckets.all({ runId, name, from, to, buckets: Math.max(1, Math.min(count, to - from + 1)) });
    return rows.flatMap((row) => toBucket(JSON.parse(row) as RawBucket));
  }

  return {
    /** Stores a step's metrics; a step stored before is overwritten. */
    record(runId: number, step: number, metrics: Readonly<Record<string, number>>): void {
      for (const [name, value] of Object.entries(metrics)) {
        // Not cached: a key that was added in a transaction that failed would be remembered wrongly.
        const key = keyId.get(name) ?? Number(addKey.run(name).lastInsertRowid);
        upsert.run(runId, key, step, value);
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
    /** The metrics that a run has. */
    names: (runId: number): string[] => keys.all(runId),
    /** The newest value of each metric. */
    latest: (runId: number): Readonly<Record<string, MetricPoint>> => newest(latest.all({ runId })),
    /** The same of a few metrics. */
    latestOf: (runId: number, names: readonly string[]): Readonly<Record<string, MetricPoint>> =>
      newest(latestAmong.all({ runId, names: JSON.stringify(names) })),
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
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
