/**
 * Facts that were derived again at each use, and changed with what they were derived from: a run's role (from its name,
 * which can be changed), whether a dataset's test records are held out, and the side of the split that a text is on.
 */
import type { Migration } from './migration.ts';

export const keptFacts: Migration = {
  version: 6,
  sql: `
alter table run add column role text not null default '';
update run set role = name;

alter table dataset add column leakage_json text;

create table text_side (
  hash text primary key,
  side text not null check (side in ('train', 'test')),
  decided_at integer not null
) strict, without rowid;
`,
};
