/** What the user writes about a run: notes, and tags to find it by. */
import type { Migration } from './migration.ts';

export const runNotes: Migration = {
  version: 9,
  sql: `
alter table run add column notes text not null default '';
alter table run add column tags_json text not null default '[]';
`,
};
