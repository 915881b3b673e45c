/** Completions of several turns are kept as conversations: a JSON list of messages with their roles. */
import type { Migration } from './migration.ts';

export const conversations: Migration = {
  version: 14,
  sql: `
alter table sample add column messages_json text;
alter table evaluation_item add column messages_json text;
`,
};
