import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRecords, makerOf } from '../../../main/services/tasks/make-records.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A copy of a template whose program is this script, run by Node in place of Python. */
function copied(script: string): string {
  const folder = join(temporaryFolder(), 'task');
  mkdirSync(folder);
  writeFileSync(join(folder, 'template.yaml'), 'make: make.mjs\n');
  writeFileSync(join(folder, 'task.yaml'), 'rewards:\n  score:\n    command: [python3, make.mjs]\n');
  writeFileSync(join(folder, 'records.jsonl'), '{"id":"bundled"}\n');
  writeFileSync(join(folder, 'make.mjs'), script);
  return folder;
}

const python = process.execPath;
const ECHO = `
let text = '';
for await (const part of process.stdin) text += part;
const given = { id: 'a', ...JSON.parse(text), argument: process.argv[2] };
console.log(JSON.stringify({ 'records.jsonl': [given], 'records.test.jsonl': [], 'examples.jsonl': [] }));`;

describe('makeRecords', () => {
  it('writes what the program makes of the settings, and scores by the same interpreter', () => {
    const folder = copied(ECHO);
    expect(makerOf(folder)).toBe('make.mjs');
    makeRecords(folder, 'make.mjs', { python, family: 'sums', size: '3' });
    expect(readFileSync(join(folder, 'records.jsonl'), 'utf8')).toBe(
      '{"id":"a","family":"sums","size":"3","argument":"make"}\n',
    );
    expect(readFileSync(join(folder, 'task.yaml'), 'utf8')).toContain(`command: [${JSON.stringify(python)}, make.mjs]`);
    expect(existsSync(join(folder, 'template.yaml'))).toBe(false);
  });

  it('leaves the records of the template without settings, and runs nothing', () => {
    const folder = copied('process.exit(1)');
    makeRecords(folder, 'make.mjs', {});
    expect(readFileSync(join(folder, 'records.jsonl'), 'utf8')).toBe('{"id":"bundled"}\n');
  });

  it.each([
    ['process.stderr.write("noise\\nno package: pip install it"); process.exit(1)', 'no package: pip install it'],
    ['console.log("[]")', 'gave no JSON object'],
    ['console.log("..{}")', 'gave no JSON object'],
    ['console.log("{}")', 'gave no records.jsonl'],
  ])('says why there are none: %s', (script, why) => {
    const error = errorOf(() => makeRecords(copied(script), 'make.mjs', { python, family: 'x' }));
    expect(error).toMatchObject({ code: 'RECORDS_NOT_MADE', message: expect.stringContaining(why) });
  });

  it('says that the interpreter is missing', () => {
    const error = errorOf(() => makeRecords(copied(''), 'make.mjs', { python: '/none/python3' }));
    expect(error).toMatchObject({ message: expect.stringContaining("can't be started") });
  });
});
