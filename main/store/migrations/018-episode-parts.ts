/**
 * What is counted in a conversation is searched like a reward component: turns of the model, calls of each tool, and calls
 * that failed. Their names have a space, which no component's has.
 */
import type { Migration } from './migration.ts';

const partsOf = (row: string): string => `
  insert into sample_part (name, value, sample_id)
  select part.key, part.value, ${row}.id from json_each(${row}.components_json) part where part.value is not null;
${episodePartsOf(row, '')}`;

/** Unknown tools are left out: whoever makes names up would fill the list of them. */
const episodePartsOf = (row: string, from: string): string => `
  insert into sample_part (name, value, sample_id)
  select 'model turns', (select count(*) from json_each(${row}.messages_json) said where said.value ->> 'role' = 'assistant'),
    ${row}.id ${from} where ${row}.messages_json is not null;
  insert into sample_part (name, value, sample_id)
  select 'failed calls', coalesce(sum(said.value ->> 'content' like '{"error":%'), 0), ${row}.id
  from ${from === '' ? '' : 'sample, '}json_each(${row}.messages_json) said
  where said.value ->> 'role' = 'tool' group by ${row}.id;
  insert into sample_part (name, value, sample_id)
  select 'calls ' || (said.value ->> 'name'), count(*), ${row}.id
  from ${from === '' ? '' : 'sample, '}json_each(${row}.messages_json) said
  where said.value ->> 'role' = 'tool' and said.value ->> 'name' is not null
    and said.value ->> 'content' not like '{"error":"There is no tool%'
  group by ${row}.id, said.value ->> 'name';`;

export const episodeParts: Migration = {
  version: 18,
  sql: `
drop trigger sample_part_insert;
drop trigger sample_part_update;
${episodePartsOf('sample', 'from sample')}

create trigger sample_part_insert after insert on sample begin ${partsOf('new')}
end;

create trigger sample_part_update after update of components_json, messages_json on sample begin
  delete from sample_part where sample_id = old.id; ${partsOf('new')}
end;
`,
};
