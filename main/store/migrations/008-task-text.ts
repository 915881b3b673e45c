/** A task can be a folder of the workspace: which text of it a run was started with, and how its completions are shown. */
import type { Migration } from './migration.ts';

export const taskText: Migration = {
  version: 8,
  sql: `
alter table run add column task_hash text;
alter table run add column task_show text not null default 'plain';
update run set task_show = case task when 'interleave' then 'aligned' when 'reply' then 'beside' else 'plain' end;

alter table sample add column failure text;
`,
};
