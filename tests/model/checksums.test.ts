import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKSUMS, checkSound, damageOf, digestOf, encodeChecksums } from '../../main/model/checksums.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A folder of three files with their list. */
function listed(): string {
  const folder = temporaryFolder();
  const contents = { 'config.json': '{}', 'model.safetensors': 'weights', 'notes.md': 'a note' };
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content);
  const digests = Object.entries(contents).map(([name, content]) => [name, digestOf(content)] as const);
  writeFileSync(join(folder, CHECKSUMS), encodeChecksums(new Map(digests)));
  return folder;
}

function editList(folder: string, edit: (list: string) => string): void {
  const file = join(folder, CHECKSUMS);
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

describe('the digests of a folder', () => {
  it('let an intact folder pass, with files that nobody wrote down', async () => {
    const folder = listed();
    writeFileSync(join(folder, 'README.md'), 'mine');
    expect(await damageOf(folder)).toBeNull();
  });

  const secondLine = 66 + 'config.json\n'.length;
  it.each([
    ['cut within a line', (list: string) => list.slice(0, secondLine + 20), 'it is not a list of digests'],
    ['cut after a line', (list: string) => list.slice(0, secondLine), "it doesn't list model.safetensors"],
    [
      'zeros from the second line on',
      (list: string) => list.slice(0, secondLine).padEnd(list.length, '\0'),
      'it is not a list of digests',
    ],
    ['empty', () => '', 'it is not a list of digests'],
    ['a file elsewhere', (list: string) => list.replace('config.json', '../x.json'), 'it is not a list of digests'],
  ])('are damaged themselves: %s', async (_, edit, reason) => {
    const folder = listed();
    editList(folder, edit);
    expect(await damageOf(folder)).toEqual({ file: join(folder, CHECKSUMS), reason });
  });

  it('name the file that was changed or is missing', async () => {
    const folder = listed();
    writeFileSync(join(folder, 'model.safetensors'), 'weightz');
    expect(await damageOf(folder)).toMatchObject({ file: join(folder, 'model.safetensors') });
    rmSync(join(folder, 'config.json'));
    expect(await damageOf(folder)).toMatchObject({ file: join(folder, 'config.json') });
  });
});

describe('checkSound', () => {
  it("yields to other work while it looks for the run's newest intact checkpoint", async () => {
    const run = temporaryFolder();
    const [older, newer] = [join(run, 'checkpoint-1'), join(run, 'checkpoint-2')];
    for (const folder of [older, newer]) cpSync(listed(), folder, { recursive: true });
    // Found damaged by its list alone, before any file is read.
    writeFileSync(join(newer, CHECKSUMS), 'no list\n');
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const check = checkSound(newer).finally(() => {
      running = false;
    });
    await expect(check).rejects.toMatchObject({
      code: 'FILES_DAMAGED',
      remedy: expect.stringContaining(`The newest intact checkpoint of this run is from step 1: use ${older}.`),
    });
    // One turn for each of the older checkpoint's three files, all of them a piece.
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('stops when it is cancelled', async () => {
    const run = temporaryFolder();
    const [older, newer] = [join(run, 'checkpoint-1'), join(run, 'checkpoint-2')];
    for (const folder of [older, newer]) cpSync(listed(), folder, { recursive: true });
    writeFileSync(join(newer, CHECKSUMS), 'no list\n');
    await expect(checkSound(newer, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });
});
