/** Conversations of the Playground that the user keeps: user turns, each model's answers, and how they were sampled. */
import type { Migration } from './migration.ts';

export const keptConversations: Migration = {
  version: 16,
  sql: `
create table conversation (
  id integer primary key,
  title text not null,
  turns integer not null,
  content_json text not null,
  created_at integer not null,
  updated_at integer not null
) strict;
`,
};
