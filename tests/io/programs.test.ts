import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram, programHere } from '../../main/io/programs.ts';
import { asWindows } from '../as-windows.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function program(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

describe('findProgram', () => {
  it('gives the first folder of the path that has one of the names', () => {
    const [first, second] = [temporaryFolder(), temporaryFolder()];
    const found = program(second, 'tool');
    program(second, 'other');
    const path = [first, second].join(delimiter);
    expect(findProgram(['none', 'tool', 'other'], path)).toBe(found);
    expect(findProgram(['none'], path)).toBeUndefined();
  });

  it('skips empty and relative entries, which mean the current folder', () => {
    const planted = temporaryFolder();
    const file = program(planted, 'tool');
    const here = relative(process.cwd(), planted);
    expect(findProgram(['tool'], [here, '', '.'].join(delimiter))).toBeUndefined();
    expect(findProgram(['tool'], [here, planted].join(delimiter))).toBe(file);
  });
});

describe('programHere', () => {
  it("starts Windows' Python by the name that its installer gives it", () => {
    expect(['python3', 'node'].map(programHere)).toEqual(['python3', 'node']);
    asWindows();
    expect(['python3', 'python3.12', 'node'].map(programHere)).toEqual(['python', 'python3.12', 'node']);
  });
});
