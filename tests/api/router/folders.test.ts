import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Dialogs } from '../../../main/api/context.ts';
import { openPathAccess } from '../../../main/api/path-access.ts';
import { openAllowedFolders } from '../../../main/services/workspace/allowed-folders.ts';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { contextOf, openTinyApp, overPorts } from '../transports.ts';

/** A workspace and, outside it, data/ with a model, a text, links and the user's own configuration. */
async function disk(confirm?: Dialogs['confirm']) {
  const outside = temporaryFolder();
  const data = join(outside, 'data');
  const own = join(outside, 'config');
  mkdirSync(join(data, 'model'), { recursive: true });
  mkdirSync(own);
  for (const file of ['model/config.json', 'letters.txt', 'picture.png', '.hidden.txt'])
    writeFileSync(join(data, file), 'a');
  writeFileSync(join(own, 'secrets.json'), '{}');
  symlinkSync(data, join(outside, 'link'));
  const world = await tinyWorkspace();
  symlinkSync(data, join(world.root, 'link'));
  const app = openTinyApp(world);
  const kept = openAllowedFolders(join(own, 'allowed-folders.json'));
  const openAccess = () => openPathAccess(world.root, [world.root], { kept, own });
  const context = contextOf(app);
  const host = confirm === undefined ? context.host : { ...context.host, dialogs: { confirm } as Dialogs };
  const access = openAccess();
  const { client } = await overPorts({ ...context, host, access });
  const questionOf = async (path: string): Promise<string> => {
    const place = await client.folders.find({ path });
    if (place.kind === 'open') throw new Error(`Expected ${path} to be outside`);
    return place.question;
  };
  return { client, access, openAccess, kept, outside, data, own, root: world.root, questionOf };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error) => error.data.code,
  );

afterEach(() => {
  vi.useRealTimers();
});

describe('folders', () => {
  it('lists folders first, then the files asked for, and which folders are models', async () => {
    const { client, data, questionOf } = await disk();
    await client.folders.allow({ question: await questionOf(data) });
    const listed = await client.folders.browse({ path: data, endings: ['.txt'], sign: 'config.json' });
    expect(listed).toMatchObject({ kind: 'listed', folder: data, parent: dirname(data), more: 0 });
    expect(listed.kind === 'listed' && listed.entries).toEqual([
      { name: 'model', path: join(data, 'model'), isFolder: true, isWanted: true, bytes: null },
      { name: 'letters.txt', path: join(data, 'letters.txt'), isFolder: false, isWanted: false, bytes: 1 },
    ]);
    const filtered = await client.folders.browse({ path: data, endings: ['.txt'], filter: 'LETT' });
    expect(filtered.kind === 'listed' && filtered.entries.map(({ name }) => name)).toEqual(['letters.txt']);
  });

  it('asks once for a folder outside, shown as the links lead, and keeps the answer for later sessions', async () => {
    const { client, access, openAccess, outside, data, root } = await disk();
    for (const path of [data, join(outside, 'link'), join(root, 'link'), join(outside, 'other', '..', 'data')])
      expect(await client.folders.browse({ path }), path).toMatchObject({ kind: 'outside', folder: data });
    const ofFile = await client.folders.find({ path: join(outside, 'link', 'letters.txt') });
    expect(ofFile).toMatchObject({ kind: 'outside', folder: data });
    expect(() => access.check(join(data, 'letters.txt'))).toThrow('Expected a path inside');
    expect(await client.folders.allow({ question: ofFile.kind === 'outside' ? ofFile.question : '' })).toEqual({
      allowed: true,
    });
    expect(await client.folders.find({ path: join(data, 'letters.txt') })).toMatchObject({ kind: 'open' });
    expect(openAccess().check(join(data, 'letters.txt'))).toBe(join(data, 'letters.txt'));
    expect(() => access.check(outside)).toThrow('Expected a path inside');
    expect(await client.folders.places()).toMatchObject({ allowed: [data], home: homedir() });
    await client.folders.forget({ folder: data });
    for (const later of [access, openAccess()]) expect(() => later.check(data)).toThrow('Expected a path inside');
  });

  it('opens nothing by a question that was answered, guessed, old, or whose folder has become a link', async () => {
    const { client, access, outside, data, questionOf } = await disk();
    const model = join(data, 'model');
    const answered = await questionOf(model);
    await client.folders.allow({ question: answered });
    await client.folders.forget({ folder: model });
    for (const question of [answered, 'AAAA', data])
      expect(await codeOf(client.folders.allow({ question }))).toBe('QUESTION_GONE');
    const replaced = await questionOf(model);
    renameSync(model, join(outside, 'moved'));
    symlinkSync('/etc', model);
    expect(await codeOf(client.folders.allow({ question: replaced }))).toBe('QUESTION_GONE');
    const old = await questionOf(data);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 });
    expect(await codeOf(client.folders.allow({ question: old }))).toBe('QUESTION_GONE');
    expect(() => access.check(data)).toThrow('Expected a path inside');
  });

  it('forgets a kept folder that has since become a link to another', async () => {
    const { client, openAccess, outside, data, questionOf } = await disk();
    await client.folders.allow({ question: await questionOf(data) });
    renameSync(data, join(outside, 'moved'));
    symlinkSync('/etc', data);
    expect(() => openAccess().check('/etc/passwd')).toThrow('Expected a path inside');
  });

  it("never opens the user's own configuration, even in a folder that is open, nor a whole disk", async () => {
    const { client, access, outside, own, questionOf } = await disk();
    for (const path of [own, join(own, 'secrets.json')])
      expect(await codeOf(client.folders.browse({ path }))).toBe('FOLDER_OWN');
    await client.folders.allow({ question: await questionOf(outside) });
    expect(access.check(join(outside, 'data'))).toBe(join(outside, 'data'));
    expect(() => access.check(join(own, 'secrets.json'))).toThrow('Expected a path inside');
    expect(await codeOf(client.folders.browse({ path: own }))).toBe('FOLDER_OWN');
    expect(await codeOf(client.folders.browse({ path: '/' }))).toBe('FOLDER_TOO_WIDE');
  });

  it('says what is missing, and the nearest folder that is there', async () => {
    const { client, data } = await disk();
    await expect(client.folders.find({ path: join(data, 'models', 'tiny') })).rejects.toMatchObject({
      data: { code: 'FOLDER_MISSING', remedy: `The nearest folder is ${data}.` },
    });
  });

  it('asks in a window of the system on the desktop', async () => {
    const confirm = vi.fn<Dialogs['confirm']>().mockResolvedValueOnce(false).mockResolvedValueOnce(true);
    const { client, access, data, questionOf } = await disk(confirm);
    expect(await client.folders.allow({ question: await questionOf(data) })).toEqual({ allowed: false });
    expect(() => access.check(data)).toThrow('Expected a path inside');
    expect(await client.folders.allow({ question: await questionOf(data) })).toEqual({ allowed: true });
    expect(confirm.mock.lastCall?.[0].message).toContain(data);
    expect(access.check(data)).toBe(data);
  });

  it('takes ~ for the home folder', async () => {
    const { client } = await disk();
    expect(await client.folders.find({ path: '~' })).toMatchObject({ kind: 'outside', folder: homedir() });
  });

  it('lets a file of an open folder be imported as records where it is, and no other', async () => {
    const { client, data, questionOf } = await disk();
    const path = join(data, 'letters.txt');
    expect(await codeOf(client.imports.refer({ path }))).toBe('PATH_OUTSIDE');
    await client.folders.allow({ question: await questionOf(data) });
    expect(await client.imports.refer({ path })).toEqual({ uploadId: expect.any(Number) });
  });
});
