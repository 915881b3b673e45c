/** Which components of a run's reward were computed outside the sandbox: kinds, hashes and hosts, never keys. */
import type { Migration } from './migration.ts';

export const externalRewards: Migration = {
  version: 10,
  sql: `
alter table run add column external_json text not null default '[]';
`,
};
