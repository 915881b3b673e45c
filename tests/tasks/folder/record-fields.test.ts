import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDefinition } from '../../../main/tasks/folder/definition.ts';
import { misspeltFields } from '../../../main/tasks/folder/record-fields.ts';
import { stripTypes } from '../../../main/tasks/sandbox/strip-types.ts';

const fields = ['first', 'second'];

describe('misspeltFields', () => {
  it('finds a misspelt field, with its place', () => {
    const code =
      'export function reward({ record, completion }) {\n  return { a: completion === record.secnd ? 1 : 0 };\n}';
    expect(misspeltFields(code, fields)).toEqual([
      { line: 2, column: 37, message: expect.stringContaining('no field "secnd"; did you mean "second"?') },
    ]);
  });

  it('leaves other fields, comments, texts, methods and records of its own alone', () => {
    for (const code of [
      'record.second + record.first + record.id + record.toString()',
      'record.answer + record.seconds + record.firstWord',
      '// record.secnd\n/* record.secnd */ "record.secnd" + \'record.secnd\'',
      'other.record.secnd + myrecord.secnd',
      'const record = { secnd: 1 }; record.secnd',
      'rows.map(record => record.secnd)',
    ])
      expect(misspeltFields(code, fields), code).toEqual([]);
  });

  it('reads a line of quotation marks within seconds', () => {
    const began = performance.now();
    expect(misspeltFields(`${'"\\'.repeat(30_000)}\nrecord.frist`, fields)).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('has nothing against the bundled tasks', () => {
    const tasks = resolve(import.meta.dirname, '../../../resources/tasks');
    for (const entry of readdirSync(tasks, { withFileTypes: true }).filter((item) => item.isDirectory())) {
      const [yaml, code] = ['task.yaml', 'reward.ts'].map((file) => {
        const path = join(tasks, entry.name, file);
        return file === 'reward.ts' && !readdirSync(join(tasks, entry.name)).includes(file)
          ? ''
          : readFileSync(path, 'utf8');
      });
      const checked = checkDefinition(yaml ?? '');
      const known = 'faults' in checked ? [] : Object.keys(checked.definition.fields);
      expect(misspeltFields(stripTypes(code ?? '', 'reward.ts'), known), entry.name).toEqual([]);
    }
  });
});
