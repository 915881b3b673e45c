/**
 * Stages of the curriculum: planned before they are queued, with or without a dataset. No earlier Braid wrote to the
 * table, so it is recreated instead of copied.
 */
import type { Migration } from './migration.ts';

export const stages: Migration = {
  version: 2,
  sql: `
drop table stage;
create table stage (
  id integer primary key,
  name text not null,
  dataset_id integer references dataset(id) on delete set null,
  position integer not null,
  words integer,
  steps integer not null,
  promotion_json text,
  config_json text not null default '{}',
  state text not null check (state in ('planned', 'queued', 'running', 'done', 'unmet', 'failed', 'cancelled')),
  reason text,
  queued_at integer,
  started_at integer,
  ended_at integer
) strict;
create index stage_queue on stage(state, queued_at, id);
`,
};
