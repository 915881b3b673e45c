import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeZip } from '../../../main/io/make-zip.ts';
import { listZip, unpackZip } from '../../../main/services/native-setup/zip.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();

const MEMBERS = [
  { name: 'a/one.txt', content: 'interleave '.repeat(5000) },
  { name: 'a/two.bin', content: Buffer.from([0, 1, 2, 255]), stored: true },
  { name: 'empty', content: '' },
  { name: 'a/folder/', content: '' },
];

function archive(name: string, bytes: Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

describe('listZip', () => {
  it('lists files, leaving out folders', async () => {
    const file = archive('list.zip', makeZip(MEMBERS));
    expect((await listZip(file)).map(({ name }) => name)).toEqual(['a/one.txt', 'a/two.bin', 'empty']);
  });

  it('refuses an archive in which anything would land outside', async () => {
    for (const name of ['../out', '/etc/x', 'a/../../x', 'C:/x']) {
      const file = archive('outside.zip', makeZip([...MEMBERS, { name, content: 'x' }]));
      await expect(listZip(file), name).rejects.toMatchObject({ code: 'NOT_AN_ARCHIVE' });
    }
  });

  it('says that an archive was cut short', async () => {
    const file = archive('cut.zip', makeZip(MEMBERS).subarray(0, 200));
    await expect(listZip(file)).rejects.toThrow(/cut\.zip: not a complete zip archive .* it is truncated/);
    await expect(listZip(archive('text.zip', Buffer.from('hello')))).rejects.toMatchObject({ code: 'NOT_AN_ARCHIVE' });
  });
});

describe('unpackZip', () => {
  it('refuses names that only some systems can have', async () => {
    for (const name of ['a/nul', 'ab:c', 'a/b. ', 'a//b']) {
      const file = archive('names.zip', makeZip([{ name, content: 'x' }]));
      await expect(unpackZip(file, await listZip(file), join(folder, 'names')), name).rejects.toMatchObject({
        code: 'BAD_FILE_NAME',
      });
    }
  });

  it('unpacks what was asked for, byte for byte, and tells how far it is', async () => {
    const file = archive('whole.zip', makeZip(MEMBERS));
    const heard: number[] = [];
    const out = join(folder, 'out');
    await unpackZip(file, await listZip(file), out, (done, total) => heard.push(done / total));
    expect(readFileSync(join(out, 'a/one.txt'), 'utf8')).toBe(MEMBERS[0]?.content);
    expect(readFileSync(join(out, 'a/two.bin'))).toEqual(MEMBERS[1]?.content);
    expect(existsSync(join(out, 'empty'))).toBe(true);
    expect(heard.at(-1)).toBe(1);
  });

  it('refuses a member whose bytes were changed', async () => {
    const bytes = makeZip([{ name: 'data', content: 'abcdefgh', stored: true }]);
    bytes[bytes.indexOf('abcdefgh') + 3] = 0;
    const file = archive('damaged.zip', bytes);
    await expect(unpackZip(file, await listZip(file), join(folder, 'bad'))).rejects.toThrow(
      /data can't be unpacked: its checksum is wrong/,
    );
  });
});
