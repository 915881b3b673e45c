/**
 * The first schema. Times are milliseconds since 1970; paths inside the workspace are relative to it, so that a
 * workspace can be moved; a REAL column that may hold NaN is nullable, because SQLite stores NaN as null.
 */
import type { Migration } from './migration.ts';

const corpus = `
create table text (
  id integer primary key,
  title text not null,
  text text not null,
  source text not null,
  words integer not null,
  hash text not null unique,
  added_at integer not null
) strict;

create table dataset (
  id integer primary key,
  name text not null,
  file text not null unique,
  task text not null,
  words integer,
  train_n integer not null,
  test_n integer not null,
  seed integer not null,
  template text,
  text_hash text,
  made_at integer not null
) strict;

create table stage (
  id integer primary key,
  dataset_id integer not null references dataset(id) on delete cascade,
  position integer not null,
  words integer,
  steps integer not null,
  promotion_json text,
  config_json text not null default '{}',
  state text not null check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  reason text,
  queued_at integer not null,
  started_at integer,
  ended_at integer
) strict;
create index stage_queue on stage(state, position, id);
`;

const runs = `
create table run (
  id integer primary key,
  name text not null,
  state text not null
    check (state in ('running', 'paused', 'interrupted', 'done', 'failed', 'stopped', 'collapsed')),
  reason text,
  method text not null,
  task text not null,
  stage_id integer references stage(id) on delete set null,
  dataset text not null,
  model text not null,
  config_json text not null,
  folder text not null,
  backend text,
  parent_run_id integer references run(id) on delete set null,
  parent_checkpoint_id integer references checkpoint(id) on delete set null,
  step integer not null default 0,
  max_steps integer not null,
  baseline_score real,
  pid integer,
  host_id text,
  heartbeat_at integer,
  started_at integer,
  ended_at integer,
  created_at integer not null
) strict;
create index run_parent on run(parent_run_id);
create index run_state on run(state);

create table checkpoint (
  id integer primary key,
  run_id integer not null references run(id) on delete cascade,
  step integer not null,
  path text not null,
  kind text not null check (kind in ('periodic', 'final')),
  created_at integer not null,
  deleted_at integer,
  unique (run_id, step)
) strict;
create index checkpoint_path on checkpoint(path);

create table event (
  id integer primary key,
  run_id integer not null references run(id) on delete cascade,
  step integer not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'error')),
  message text not null,
  remedy text,
  data_json text,
  at integer not null,
  unique (run_id, step, kind, message)
) strict;

create table setting (
  key text primary key,
  value text not null
) strict, without rowid;
`;

const measures = `
create table metric_key (
  id integer primary key,
  name text not null unique
) strict;

create table metric (
  run_id integer not null references run(id) on delete cascade,
  key_id integer not null references metric_key(id),
  step integer not null,
  value real,
  primary key (run_id, key_id, step)
) strict, without rowid;

create table sample (
  id integer primary key,
  run_id integer not null references run(id) on delete cascade,
  step integer not null,
  group_index integer not null,
  sample_index integer not null,
  record_id text not null,
  prompt text not null,
  target text not null,
  completion text not null,
  reward real,
  advantage real,
  length integer not null,
  terminated integer not null check (terminated in (0, 1)),
  components_json text not null,
  unique (run_id, step, group_index, sample_index)
) strict;
create index sample_record on sample(run_id, record_id);

create table evaluation (
  id integer primary key,
  run_id integer references run(id) on delete cascade,
  checkpoint_id integer references checkpoint(id) on delete set null,
  model text not null,
  dataset text not null,
  step integer not null,
  n integer not null,
  mean real,
  low real,
  high real,
  exact_match real,
  metrics_json text not null,
  created_at integer not null,
  during_training integer not null check (during_training in (0, 1))
) strict;
create index evaluation_run on evaluation(run_id, step);
create unique index evaluation_once on evaluation(run_id, step, dataset) where during_training = 1;

create table evaluation_item (
  evaluation_id integer not null references evaluation(id) on delete cascade,
  position integer not null,
  record_id text not null,
  completion text not null,
  score real,
  metrics_json text not null,
  primary key (evaluation_id, position)
) strict;
`;

// The index holds no copy of the texts (external content); triggers keep it in sync with the table.
const search = `
create virtual table sample_search using fts5(prompt, completion, content = 'sample', content_rowid = 'id');

create trigger sample_search_insert after insert on sample begin
  insert into sample_search(rowid, prompt, completion) values (new.id, new.prompt, new.completion);
end;

create trigger sample_search_delete after delete on sample begin
  insert into sample_search(sample_search, rowid, prompt, completion)
  values ('delete', old.id, old.prompt, old.completion);
end;

create trigger sample_search_update after update on sample begin
  insert into sample_search(sample_search, rowid, prompt, completion)
  values ('delete', old.id, old.prompt, old.completion);
  insert into sample_search(rowid, prompt, completion) values (new.id, new.prompt, new.completion);
end;
`;

export const initial: Migration = { version: 1, sql: corpus + runs + measures + search };
