/** Runs outside the curriculum in the queue, and sweeps: plans of many runs, each a trial of some settings and a seed. */
import type { Migration } from './migration.ts';

export const queueAndSweeps: Migration = {
  version: 12,
  sql: `
create table queued_run (
  id integer primary key,
  name text,
  config_json text not null,
  queued_at integer not null,
  reason text
) strict;

create table sweep (
  id integer primary key,
  name text not null,
  plan_json text not null,
  state text not null check (state in ('queued', 'running', 'paused', 'done', 'cancelled')),
  reason text,
  queued_at integer,
  pid integer,
  host_id text,
  heartbeat_at integer,
  created_at integer not null,
  started_at integer,
  ended_at integer
) strict;

create table sweep_trial (
  id integer primary key,
  sweep_id integer not null references sweep(id) on delete cascade,
  position integer not null,
  setting integer not null,
  seed integer not null,
  name text not null,
  config_json text not null,
  after_id integer references sweep_trial(id) on delete set null,
  run_id integer references run(id) on delete set null,
  state text not null
    check (state in ('waiting', 'running', 'reached', 'done', 'collapsed', 'eliminated', 'failed', 'cancelled')),
  rung integer not null default 0,
  attempts integer not null default 0,
  reason text
) strict;
create index sweep_trial_order on sweep_trial(sweep_id, position);
create index sweep_trial_run on sweep_trial(run_id);
`,
};
