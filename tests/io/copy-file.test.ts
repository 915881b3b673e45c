import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFolderAtomic } from '../../main/io/atomic-write.ts';
import { copyContent } from '../../main/io/copy-file.ts';
import { errorOf } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('copyContent', () => {
  it('copies a read-only file of several pieces as one that can be written', () => {
    const root = temporaryFolder();
    const from = join(root, 'from');
    const content = Buffer.alloc(2 ** 23 + 5, 'abc');
    writeFileSync(from, content);
    chmodSync(from, 0o444);
    const folder = join(root, 'out');
    writeFolderAtomic(folder, (temporary) => copyContent(from, join(temporary, 'to')));
    expect(readFileSync(join(folder, 'to')).equals(content)).toBe(true);
    expect(statSync(join(folder, 'to')).mode & 0o200).toBe(0o200);
  });

  it('names the source that cannot be read', () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'folder'));
    for (const name of ['gone', 'folder']) {
      const copy = () =>
        writeFolderAtomic(join(root, 'out'), (temporary) => copyContent(join(root, name), join(temporary, 'to')));
      const message = expect.stringMatching(new RegExp(`${name}: can't be read`));
      expect(errorOf(copy)).toMatchObject({ code: 'FILE_UNREADABLE', message });
    }
  });
});
