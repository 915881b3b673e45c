import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { processTemplate } from '../../main/tasks/interleave/prompt.ts';
import { parseInterleaveRecord } from '../../main/tasks/interleave/record.ts';
import { configFields } from '../../main/trainer/config.ts';
import { configTable, formatsFile, tableIn } from './config-table.ts';

const document = readFileSync(formatsFile, 'utf8');

describe('docs/formats.md', () => {
  it('lists every configuration field as the schema has it', () => {
    expect(tableIn(document), 'regenerate the table: node tests/docs/config-table.ts').toBe(configTable());
    expect(configTable().split('\n')).toHaveLength(configFields.length + 2);
  });

  it('shows a record that the program accepts', () => {
    const example = document
      .split('\n')
      .find((line) => line.startsWith('{"id":"10w-') || line.startsWith('{"id":"3w-'));
    const record = parseInterleaveRecord(JSON.parse(example ?? 'null'));
    const { fragment_a, fragment_b } = record;
    const prompt = processTemplate.text.replace('{fragment_a}', fragment_a).replace('{fragment_b}', fragment_b);
    expect(record.prompt).toBe(prompt);
  });

  it('names every table of the database', () => {
    const migration = readFileSync(new URL('../../main/store/migrations/001-initial.ts', import.meta.url), 'utf8');
    const tables = [...migration.matchAll(/^create (?:virtual )?table (\w+)/gm)].map(([, name]) => name);
    expect(tables.length).toBeGreaterThan(10);
    for (const name of tables) expect(document).toContain(`| \`${name}\` |`);
  });
});
