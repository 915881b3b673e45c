import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MODEL_TYPES } from '../../main/model/model-types.ts';
import { processTemplate } from '../../main/tasks/interleave/prompt.ts';
import { parseInterleaveRecord } from '../../main/tasks/interleave/record.ts';
import { configFields, trainConfigSchema } from '../../main/trainer/config/config.ts';
import { partIn } from '../../scripts/generated-part.ts';
import { CONFIG_FIELDS, configFile, configList } from './config-table.ts';

const document = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8');

describe('docs/run-yaml.md', () => {
  it('lists every configuration field as the schema has it', () => {
    const list = partIn(readFileSync(configFile, 'utf8'), CONFIG_FIELDS);
    expect(list, 'regenerate the list: node tests/docs/config-table.ts').toBe(configList());
    expect(configList().split('\n')).toHaveLength(configFields.length);
  });
});

/** The names that a list's entries begin with. */
const entriesOf = (text: string): string[] =>
  [...text.matchAll(/^- ((?:`\w+`, )*`\w+`): /gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);

describe('docs/algorithm.md', () => {
  it('has a term and a weight of tokens for each loss type', () => {
    const document = readFileSync(new URL('../../docs/algorithm.md', import.meta.url), 'utf8');
    const [, section = ''] = /^## Loss types\n(.*?)^## /ms.exec(document) ?? [];
    const entries = entriesOf(section);
    const counts = trainConfigSchema.shape.loss_type
      .unwrap()
      .options.map((type) => [type, entries.filter((name) => name === type).length]);
    expect(counts.filter(([, count]) => count !== 2)).toEqual([]);
  });
});

describe('docs/formats.md', () => {
  it('names every type of model that loads', () => {
    const listed = entriesOf(document);
    expect(MODEL_TYPES.filter((type) => !listed.includes(type))).toEqual([]);
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
    const folder = new URL('../../main/store/migrations/', import.meta.url);
    const migrations = readdirSync(folder).filter((name) => /^\d/.test(name));
    const tables = migrations.flatMap((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      return [...text.matchAll(/^create (?:virtual )?table (\w+)/gm)].map(([, table]) => table);
    });
    expect(tables.length).toBeGreaterThan(20);
    const missing = [...new Set(tables)].filter((name) => !document.includes(`\`${name}\``));
    expect(missing).toEqual([]);
    expect(document).toContain(`currently ${Math.max(...migrations.map((name) => Number.parseInt(name, 10)))} `);
  });
});
