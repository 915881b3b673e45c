/** What every sampled group had to teach, by prompt: completions are stored for some steps only. */
import type { Migration } from './migration.ts';

export const promptGroups: Migration = {
  version: 7,
  sql: `
create table prompt_group (
  run_id integer not null references run(id) on delete cascade,
  step integer not null,
  place integer not null,
  record_id text not null,
  outcome text not null check (outcome in ('teaches', 'solved', 'dead')),
  reward real,
  primary key (run_id, step, place)
) strict, without rowid;
`,
};
