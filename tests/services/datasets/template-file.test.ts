import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTemplate } from '../../../main/services/datasets/index.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('readTemplate', () => {
  it('reads JSON and plain text', () => {
    const text = '{fragment_a}|{fragment_b}';
    expect(readTemplate(file('a.json', JSON.stringify({ name: 'mine', version: 3, text })))).toEqual({
      name: 'mine',
      version: 3,
      text,
    });
    expect(readTemplate(file('plain.txt', `${text}\n`))).toEqual({ name: 'plain', version: 1, text });
  });

  it('rejects other files', () => {
    expect(() => readTemplate(file('b.json', '{\n"name": }'))).toThrow('b.json, line 2: not JSON: expected a value');
    expect(() => readTemplate(file('c.json', '{"name": "x"}'))).toThrow('expected "name" and "text" to be strings');
    expect(() => readTemplate(file('d.json', 'null'))).toThrow('expected "name" and "text" to be strings');
    expect(() => readTemplate(file('e.txt', 'nothing'))).toThrow('expected the placeholders');
    expect(() => readTemplate(join(folder, 'none.txt'))).toThrow('the file does not exist');
  });
});
