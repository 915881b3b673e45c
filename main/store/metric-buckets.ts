/** Charts read a metric in buckets computed by SQL, from its steps, or from whole blocks if their resolution suffices. */
import { fromNull } from './columns.ts';
import { BLOCK } from './metric-blocks.ts';
import type { Db } from './open.ts';

/** One bucket of a chart; NaN values are excluded from min, max and mean. */
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

/** The parts of a bucket, in the order of the query; steps are null in an empty bucket. */
type RawBucket = readonly [
  firstStep: number | null,
  lastStep: number,
  min: number | null,
  max: number | null,
  mean: number | null,
  count: number,
];

// Each bound separately: in one query, SQLite would read the whole series.
const boundsSql = `with key(id) as (select id from metric_key where name = @name)
  select (select min(step) from metric where run_id = @runId and key_id = key.id) as "from",
    (select max(step) from metric where run_id = @runId and key_id = key.id) as "to" from key`;

// One primary-key lookup per bucket: grouping would sort every row of the series first. The parts of a bucket come
// as JSON, because a subquery gives one value. Bucket i holds the steps whose position in the range, divided by the
// bucket width, rounds down to i. Numbers arrive in SQL as floating point; the casts make them integers.
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

/** Buckets at least this many blocks wide are computed from blocks; narrower ones from steps, which is quick enough. */
const COARSE = 2;

// The same over blocks, for ranges long enough that block resolution suffices. Of a block that reaches beyond the range,
// only the steps inside it are read, one by one; the cross join keeps SQLite from reading the steps of all blocks.
const coarseSql = `with recursive
  size(first, width, buckets) as (
    select cast(@from as integer) / ${BLOCK}, cast(@to as integer) / ${BLOCK} - cast(@from as integer) / ${BLOCK} + 1,
      cast(@buckets as integer)
  ),
  bucket(i) as (select 0 union all select i + 1 from bucket, size where i + 1 < buckets)
  select (
    select json_array(min(first_step), max(last_step), min(low), max(high), sum(total) / sum(count), sum(count))
    from (
      select first_step, last_step, low, high, total, count from metric_block
      where run_id = @runId and key_id = (select id from metric_key where name = @name)
        and block >= first + (i * width + buckets - 1) / buckets
        and block < first + ((i + 1) * width + buckets - 1) / buckets
        and first_step >= @from and last_step <= @to
      union all
      select step, step, value, value, value, value is not null
      from metric_block b cross join metric m on m.run_id = b.run_id and m.key_id = b.key_id
        and m.step between max(b.block * ${BLOCK}, @from) and min(b.block * ${BLOCK} + ${BLOCK - 1}, @to)
      where b.run_id = @runId and b.key_id = (select id from metric_key where name = @name)
        and b.block >= first + (i * width + buckets - 1) / buckets
        and b.block < first + ((i + 1) * width + buckets - 1) / buckets
        and (b.first_step < @from or b.last_step > @to)
    )
  ) from bucket, size`;

/** Reads a metric in buckets. */
export function openMetricBuckets(db: Db) {
  const bounds = db.prepare<{ runId: number; name: string }, { from: number | null; to: number | null }>(boundsSql);
  const buckets = db.prepare<StepRange & { runId: number; name: string; buckets: number }, string>(bucketsSql).pluck();
  const coarse = db.prepare<StepRange & { runId: number; name: string; buckets: number }, string>(coarseSql).pluck();

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
    const rows = (isCoarse ? coarse : buckets).all({ runId, name, from, to, buckets: size });
    return rows.flatMap((row) => toBucket(JSON.parse(row) as RawBucket));
  }

  return {
    /** The first and the last step; null if the run has no such metric. */
    bounds: readBounds,
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
  } as const;
}

function toBucket([firstStep, lastStep, min, max, mean, count]: RawBucket): readonly MetricBucket[] {
  if (firstStep === null) return [];
  return [{ firstStep, lastStep, min: fromNull(min), max: fromNull(max), mean: fromNull(mean), count }];
}
