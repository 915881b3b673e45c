import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exclusively } from '../../main/store/exclusive.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { errorOf } from './helpers.ts';

describe('exclusively', () => {
  const nothing = (): void => undefined;

  it('lets one in at a time, and names what is being changed to another', () => {
    const lock = join(temporaryFolder(), 'lock');
    const inner = exclusively(lock, 'the tokens', () => errorOf(() => exclusively(lock, 'the tokens', nothing, 20)));
    expect(inner).toMatchObject({ code: 'CHANGED_ELSEWHERE', message: expect.stringContaining('the tokens') });
    expect(exclusively(lock, 'the tokens', () => 7)).toBe(7);
  });

  it('is free again after work that fails', () => {
    const lock = join(temporaryFolder(), 'lock');
    const fails = (): never => {
      throw new Error('no');
    };
    expect(() => exclusively(lock, 'it', fails)).toThrow('no');
    expect(exclusively(lock, 'it', () => 7, 20)).toBe(7);
  });

  it('says why the lock cannot be made', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'folder'));
    for (const place of ['file/lock', 'none/lock', 'folder'])
      expect(errorOf(() => exclusively(join(folder, place), 'it', nothing))).toMatchObject({
        message: expect.stringMatching(/^Can't write it to /),
        remedy: expect.any(String),
      });
  });
});
