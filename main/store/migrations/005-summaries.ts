/**
 * Fast queries over long histories: metrics in blocks of 20 steps, so that a chart of 10^5 steps doesn't read every one,
 * and indexes that answer filters over all completions without reading their texts.
 */
import type { Migration } from './migration.ts';

export const summaries: Migration = {
  version: 5,
  sql: `
create table metric_block (
  run_id integer not null references run(id) on delete cascade,
  key_id integer not null references metric_key(id),
  block integer not null,
  first_step integer not null,
  last_step integer not null,
  low real,
  high real,
  total real,
  count integer not null,
  primary key (run_id, key_id, block)
) strict, without rowid;

insert into metric_block (run_id, key_id, block, first_step, last_step, low, high, total, count)
select run_id, key_id, step / 20, min(step), max(step), min(value), max(value), sum(value), count(value)
from metric group by run_id, key_id, step / 20;

create index sample_newest on sample(id, run_id, step, group_index, reward, terminated);
drop index sample_part_sample;
create index sample_part_sample on sample_part(sample_id, name, value);
`,
};
