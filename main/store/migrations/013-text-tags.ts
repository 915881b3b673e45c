/** Texts have tags; a merged text keeps its parts, so that the merge can be undone; kept near duplicates aren't shown again. */
import type { Migration } from './migration.ts';

export const textTags: Migration = {
  version: 13,
  sql: `
alter table text add column tags_json text not null default '[]';
alter table text add column parts_json text;

create table kept_pair (
  first_hash text not null,
  second_hash text not null,
  primary key (first_hash, second_hash)
) strict, without rowid;
`,
};
