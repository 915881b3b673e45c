/**
 * Reward components as rows of their own and indexes over rewards: finding the completions that match a filter must
 * not read their texts. Triggers keep the rows in sync with the table, as they do for the full-text index.
 */
import type { Migration } from './migration.ts';

const insertParts = `
  insert into sample_part (name, value, sample_id)
  select part.key, part.value, new.id from json_each(new.components_json) part where part.value is not null;`;

export const sampleParts: Migration = {
  version: 4,
  sql: `
create table sample_part (
  name text not null,
  value real not null,
  sample_id integer not null references sample(id) on delete cascade,
  primary key (name, value, sample_id)
) strict, without rowid;
create index sample_part_sample on sample_part(sample_id);

insert into sample_part (name, value, sample_id)
select part.key, part.value, sample.id from sample, json_each(sample.components_json) part
where part.value is not null;

create trigger sample_part_insert after insert on sample begin ${insertParts}
end;

create trigger sample_part_update after update of components_json on sample begin
  delete from sample_part where sample_id = old.id; ${insertParts}
end;

create index sample_step_reward on sample(run_id, step, reward);
create index sample_reward on sample(reward, run_id, step, terminated);
`,
};
