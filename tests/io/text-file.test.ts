import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeText, describeFault, faultsError, lineOf, readTextFile } from '../../main/io/text-file.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';

const folder = temporaryFolderOfFile();

function faultOf(bytes: Uint8Array): string {
  const read = decodeText('f.txt', bytes);
  return read.kind === 'bad' ? describeFault(read.fault) : `read "${read.value}"`;
}

describe('decodeText', () => {
  it('reads UTF-8 with and without a byte-order mark', () => {
    expect(decodeText('f', Buffer.from('caf\u00e9 \u{1f410}'))).toEqual({ kind: 'good', value: 'caf\u00e9 \u{1f410}' });
    expect(decodeText('f', Buffer.from('\ufeffhi'))).toEqual({ kind: 'good', value: 'hi' });
    expect(decodeText('f', new Uint8Array())).toEqual({ kind: 'good', value: '' });
  });

  it.each([
    [Buffer.from('one\ntwo caf\u00e9', 'latin1'), 'f.txt, line 2: expected UTF-8 text'],
    [Buffer.concat([Buffer.from('ok\n\n'), Buffer.from([0xe2, 0x82])]), 'f.txt, line 3: expected UTF-8 text'],
    [Buffer.from('\ufeffhi', 'utf16le'), 'f.txt: expected UTF-8, got UTF-16'],
    [Buffer.from([0xfe, 0xff, 0, 0x68]), 'f.txt: expected UTF-8, got UTF-16'],
    [Buffer.from('a\nb\0c'), 'f.txt, line 2: expected text, got a binary file'],
    [Buffer.from('%PDF-1.7\n'), 'f.txt: expected text, got a PDF'],
    [Buffer.from('{\\rtf1 hello}'), 'f.txt: expected text, got an RTF document'],
  ])('refuses what is not text (%#)', (bytes, message) => {
    expect(faultOf(bytes)).toContain(message);
  });
});

describe('readTextFile', () => {
  it('reads a file, and says why it cannot read another', () => {
    const file = join(folder, 'a.txt');
    writeFileSync(file, 'hello');
    expect(readTextFile(file)).toEqual({ kind: 'good', value: 'hello' });
    expect(readTextFile(join(folder, 'none.txt'))).toMatchObject({
      fault: { line: null, reason: 'the file does not exist' },
    });
    expect(readTextFile(folder)).toMatchObject({ fault: { reason: 'expected a file, got a folder' } });
    expect(readTextFile(join(file, 'below'))).toMatchObject({
      fault: { reason: 'a part of its path is a file, not a folder' },
    });
  });
});

describe('lineOf', () => {
  it('counts from 1', () => {
    expect([0, 1, 2, 3, 4].map((offset) => lineOf('a\nb\nc', offset))).toEqual([1, 1, 2, 2, 3]);
  });
});

describe('faultsError', () => {
  it('spells out twenty faults and counts the rest', () => {
    const faults = Array.from({ length: 23 }, (_, i) => ({ file: 'f', line: i + 1, reason: 'wrong' }));
    const error = faultsError('BAD', faults, 'Fix them.');
    expect(error.message.split('\n')).toHaveLength(21);
    expect(error.message).toMatch(/and 3 more$/);
    expect(error).toMatchObject({ code: 'BAD', kind: 'input', remedy: 'Fix them.' });
  });
});
