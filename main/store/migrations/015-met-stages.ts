/** A stage whose rule was met before it trained is done without training: the held-out score that it had. */
import type { Migration } from './migration.ts';

export const metStages: Migration = {
  version: 15,
  sql: `
alter table stage add column met_score real;
`,
};
