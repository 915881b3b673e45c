import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPortableName, foreignPlace, nameFault, pathFault } from '../../main/io/foreign-name.ts';
import { errorOf } from '../store/helpers.ts';

describe('nameFault', () => {
  it.each([
    'a',
    'train-00000-of-00001.parquet',
    '.hidden',
    'concert.txt',
    'com10',
    'nul-1',
    'console',
    'aux-words',
    'a.con',
    'lpt',
    'année',
    'ключ.json',
    '..a',
    'a b',
  ])('allows %j', (name) => {
    expect(nameFault(name)).toBeNull();
  });

  it.each([
    ...['', '.', '..', 'a/b', 'a\\b', '..\\b', 'C:', 'C:x', 'a:stream', 'a\0b', 'a\nb', 'a\u007fb', 'a?', 'a*', 'a|b'],
    ...['<a>', '"a"', 'a.', 'a ', 'a. .', 'CON', 'con.txt', 'Aux', 'nul.tar.gz', 'COM1', 'lpt9.json', 'com¹', 'con .x'],
    ...['CONIN$', 'conout$.txt', 'com0', 'x'.repeat(256), 'ж'.repeat(128)],
  ])('refuses %j', (name) => {
    expect(nameFault(name)).toEqual(expect.any(String));
  });
});

describe('foreignPlace', () => {
  it('is below the folder', () => {
    expect(foreignPlace('/w', 'main/train/0.parquet', 'a/b')).toBe(join('/w', 'main', 'train', '0.parquet'));
  });

  it.each([
    ...['/etc/x', '//server/share/x', '\\\\server\\share\\x', 'C:/x', 'c:x', '../x', 'a/../../x', 'a\\..\\..\\x'],
    ...['a//b', 'a/', './x', 'a/nul/b', 'a/b./c', 'a/\0', ''],
  ])('refuses %j', (path) => {
    expect(pathFault(path)).toEqual(expect.any(String));
    expect(errorOf(() => foreignPlace('/w', path, 'a/b'))).toMatchObject({
      code: 'BAD_FILE_NAME',
      kind: 'input',
      message: expect.stringContaining(JSON.stringify(path)),
    });
  });
});

describe('checkPortableName', () => {
  it('refuses with the reason', () => {
    expect(() => checkPortableName('nul', 'BAD_TASK_NAME')).toThrow(
      expect.objectContaining({ code: 'BAD_TASK_NAME', kind: 'input', message: expect.stringContaining('"nul"') }),
    );
    expect(checkPortableName('river', 'BAD_TASK_NAME')).toBe('river');
  });
});
