/** Metrics: one value per run, name and step. metric-buckets.ts reads them for charts. */
import { columns, fromNull } from './columns.ts';
import { type MetricValue, openMetricBlocks } from './metric-blocks.ts';
import { openMetricBuckets, type StepRange } from './metric-buckets.ts';
import type { Db } from './open.ts';

export type { MetricBucket } from './metric-buckets.ts';

export interface MetricPoint {
  readonly step: number;
  readonly value: number;
}

/** All metrics of one step. */
export interface StepMetrics {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

type Nullable<T, K extends keyof T> = Omit<T, K> & { [key in K]: T[key] | null };
type RawPoint = Nullable<MetricPoint, 'value'>;
const seriesSql = `select ${columns(['step', 'value'])} from metric
  where run_id = @runId and key_id = (select id from metric_key where name = @name) and step between @from and @to
  order by step`;

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

/** Statements of the tables `metric`, `metric_key` and `metric_block`. */
export function openMetricsTable(db: Db) {
  const blocks = openMetricBlocks(db);
  return {
    ...openMetricWriter(db, blocks),
    ...openMetricReader(db),
    ...openNewestValues(db),
    ...openMetricBuckets(db),
    /** Computed from blocks, not from each step. */
    overall: blocks.overall,
  } as const;
}

function openMetricWriter(db: Db, blocks: ReturnType<typeof openMetricBlocks>) {
  const keyId = db.prepare<[string], number>('select id from metric_key where name = ?').pluck();
  const addKey = db.prepare<[string]>('insert into metric_key (name) values (?)');
  const insert = db.prepare<MetricValue>(
    'insert into metric (run_id, key_id, step, value) values (@runId, @key, @step, @value) on conflict do nothing',
  );
  const overwrite = db.prepare<MetricValue>(
    'update metric set value = @value where run_id = @runId and key_id = @key and step = @step',
  );
  const clear = db.prepare<[number, number]>('delete from metric where run_id = ? and step > ?');

  function write(row: MetricValue): void {
    if (insert.run(row).changes === 1) {
      blocks.add(row);
      return;
    }
    const { value: _, ...place } = row;
    overwrite.run(row);
    blocks.remake(place);
  }

  return {
    /** Stores a step's metrics; an existing step is overwritten. */
    record(runId: number, step: number, metrics: Readonly<Record<string, number>>): void {
      for (const [name, value] of Object.entries(metrics)) {
        // Not cached: a key that was added in a transaction that failed would be remembered wrongly.
        const key = keyId.get(name) ?? Number(addKey.run(name).lastInsertRowid);
        write({ runId, key, step, value });
      }
    },
    discardAfter(runId: number, step: number): number {
      const { changes } = clear.run(runId, step);
      blocks.discardAfter(runId, step);
      return changes;
    },
  } as const;
}

function openMetricReader(db: Db) {
  const series = db.prepare<StepRange & { runId: number; name: string }, RawPoint>(seriesSql);
  const keys = db
    .prepare<[number], string>(
      `select name from metric_key k where exists (select 1 from metric where run_id = ? and key_id = k.id) order by name`,
    )
    .pluck();
  const after = db.prepare<{ runId: number; step: number; limit: number }, RawPoint & { name: string }>(afterSql);

  function readSeries(runId: number, name: string, range: StepRange = everything): MetricPoint[] {
    return series.all({ runId, name, ...range }).map((point) => ({ ...point, value: fromNull(point.value) }));
  }

  return {
    /** All metrics of the steps after `step`, at most `limit` steps, in order; a step counts once it has `step_time`. */
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
    /** The metrics that a run has. */
    names: (runId: number): string[] => keys.all(runId),
  } as const;
}

function openNewestValues(db: Db) {
  // One primary-key lookup per metric, however long the series.
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

  function readLatest(runIds: readonly number[], names: readonly string[]) {
    return latestAmong.all({ runIds: JSON.stringify(runIds), names: JSON.stringify(names) });
  }

  return {
    /** The newest value of each metric. */
    latest: (runId: number): Readonly<Record<string, MetricPoint>> => newest(latest.all({ runId })),
    /** The same for a few metrics. */
    latestOf: (runId: number, names: readonly string[]): Readonly<Record<string, MetricPoint>> =>
      newest(readLatest([runId], names)),
    /** The same for many runs, by run id; runs without any of the metrics are left out. */
    latestOfRuns: (
      runIds: readonly number[],
      names: readonly string[],
    ): ReadonlyMap<number, Readonly<Record<string, MetricPoint>>> =>
      new Map([...Map.groupBy(readLatest(runIds, names), ({ runId }) => runId)].map(([id, of]) => [id, newest(of)])),
  } as const;
}

function newest(rows: readonly (RawPoint & { readonly name: string })[]): Readonly<Record<string, MetricPoint>> {
  return Object.fromEntries(rows.map(({ name, step, value }) => [name, { step, value: fromNull(value) }]));
}
