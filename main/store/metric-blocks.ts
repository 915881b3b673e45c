/** Sums of blocks of a metric's steps, stored next to its values: long charts read them instead of each step. */
import { fromNull } from './columns.ts';
import type { Db } from './open.ts';

/** Summary of a series; NaN if it has no numbers. */
export interface MetricOverall {
  /** NaN values are excluded. */
  readonly count: number;
  readonly mean: number;
  readonly max: number;
}

/** Steps of a block of `metric_block`, as migration 005 made the first ones. */
export const BLOCK = 20;
const addToBlockSql = `insert into metric_block (run_id, key_id, block, first_step, last_step, low, high, total, count)
  values (@runId, @key, cast(@step as integer) / ${BLOCK}, @step, @step, @value, @value, @value, @value is not null)
  on conflict (run_id, key_id, block) do update set
    first_step = min(first_step, @step), last_step = max(last_step, @step),
    low = coalesce(min(low, @value), low, @value), high = coalesce(max(high, @value), high, @value),
    total = coalesce(total + @value, total, @value), count = count + (@value is not null)`;

// Recomputed from its steps, for a block in which some were deleted or sent again.
const remakeBlockSql = `insert or replace into metric_block
    (run_id, key_id, block, first_step, last_step, low, high, total, count)
  select run_id, key_id, step / ${BLOCK}, min(step), max(step), min(value), max(value), sum(value), count(value)
  from metric where run_id = @runId and key_id = @key
    and step between @step - @step % ${BLOCK} and @step - @step % ${BLOCK} + ${BLOCK - 1}
  group by run_id, key_id`;

/** A metric's value at one step of a run. */
export interface MetricValue {
  readonly runId: number;
  readonly key: number;
  readonly step: number;
  readonly value: number;
}

/** Statements of the table `metric_block`. */
export function openMetricBlocks(db: Db) {
  const add = db.prepare<MetricValue>(addToBlockSql);
  const remake = db.prepare<Omit<MetricValue, 'value'>>(remakeBlockSql);
  const clear = db.prepare<[number, number]>('delete from metric_block where run_id = ? and last_step > ?');
  const allKeys = db.prepare<[], number>('select id from metric_key').pluck();
  const overall = db.prepare<
    { runId: number; name: string },
    { count: number; mean: number | null; max: number | null }
  >(
    `select coalesce(sum(count), 0) as count, sum(total) / sum(count) as mean, max(high) as max from metric_block
     where run_id = @runId and key_id = (select id from metric_key where name = @name)`,
  );
  return {
    /** Adds a new value. */
    add: (value: MetricValue): void => void add.run(value),
    /** Recomputes the block of a step. */
    remake: (place: Omit<MetricValue, 'value'>): void => void remake.run(place),
    /** Call after deleting the steps after `step`. */
    discardAfter(runId: number, step: number): void {
      clear.run(runId, step);
      // The block that contains the step.
      for (const key of allKeys.all()) remake.run({ runId, key, step });
    },
    overall(runId: number, name: string): MetricOverall {
      const { count = 0, mean = null, max = null } = overall.get({ runId, name }) ?? {};
      return { count, mean: fromNull(mean), max: fromNull(max) };
    },
  } as const;
}
