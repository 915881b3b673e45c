/**
 * Comparisons of models on frozen prompts. A prompt set holds its records, so that a comparison stays readable when the
 * dataset is regenerated or deleted. An evaluation on a prompt set is found by the fingerprint of the model's files.
 */
import type { Migration } from './migration.ts';

export const comparisons: Migration = {
  version: 3,
  sql: `
create table prompt_set (
  id integer primary key,
  hash text not null unique,
  task text not null,
  datasets_json text not null,
  seed integer not null,
  n integer not null,
  records_json text not null,
  made_at integer not null
) strict;

create table prompt_evaluation (
  evaluation_id integer primary key references evaluation(id) on delete cascade,
  prompt_set_id integer not null references prompt_set(id) on delete cascade,
  fingerprint text not null,
  summary_json text not null
) strict;
create index prompt_evaluation_key on prompt_evaluation(prompt_set_id, fingerprint);

create table comparison (
  id integer primary key,
  prompt_set_id integer not null references prompt_set(id) on delete cascade,
  made_at integer not null
) strict;

create table comparison_model (
  comparison_id integer not null references comparison(id) on delete cascade,
  position integer not null,
  reference text not null,
  name text not null,
  evaluation_id integer references evaluation(id) on delete set null,
  paired_json text,
  primary key (comparison_id, position)
) strict;
`,
};
