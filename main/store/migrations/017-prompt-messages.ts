/** Prompts that are conversations are kept as such: a JSON list of messages with their roles. */
import type { Migration } from './migration.ts';

export const promptMessages: Migration = {
  version: 17,
  sql: 'alter table sample add column prompt_messages_json text;',
};
