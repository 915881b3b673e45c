import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Member, makeZip } from '../../../main/io/make-zip.ts';
import { readSources } from '../../../main/services/texts/sources.ts';
import { temporaryFolder } from '../../store/helpers.ts';
import { madeText } from './made-texts.ts';

const zip = (members: readonly Member[], name = 'export.zip') => ({ name, bytes: makeZip(members) });

const chat = JSON.stringify([{ title: 'Rivers', messages: [{ role: 'assistant', content: madeText(1, 60).text }] }]);

async function read(source: Parameters<typeof readSources>[0][number], options = {}) {
  const { files, skipped } = await readSources([source], options);
  return {
    skipped,
    texts: files.flatMap(({ texts }) => texts.map(({ title }) => title)),
    faults: files.flatMap(({ faults }) => faults.map(({ file, reason }) => `${file}: ${reason}`)),
  };
}

describe('readSources of a zip archive', () => {
  it('reads the texts, in any encoding, and skips other files', async () => {
    const members = [
      { name: 'notes/one.txt', content: 'Some words' },
      { name: 'notes/zwei.txt', content: Buffer.from('Ein paar schöne Wörter', 'latin1') },
      { name: 'three.md', content: '# Three\nIts words', stored: true },
      { name: 'picture.png', content: 'x' },
      { name: '__MACOSX/notes/._one.txt', content: 'x' },
    ];
    expect(await read(zip(members))).toEqual({ skipped: 2, texts: ['one', 'zwei', 'Three'], faults: [] });
  });

  it('leaves out the JSON that accompanies the conversations of a chat export', async () => {
    const account = JSON.stringify({ email: 'me@example.org', id: 'abc def' });
    const members = [
      { name: 'user.json', content: account },
      { name: 'conversations.json', content: chat },
      { name: 'readme.txt', content: 'Some words' },
    ];
    expect(await read(zip(members))).toEqual({ skipped: 1, texts: ['Rivers', 'readme'], faults: [] });
    expect((await read(zip(members.slice(0, 1)))).texts).toEqual(['email', 'id']);
  });

  it.each([
    ['../up.txt', /invalid relative path/],
    ['/etc/up.txt', /absolute path/],
    ['C:\\up.txt', /invalid characters|absolute path/],
  ])('refuses a name that leads out of it: %s', async (name, reason) => {
    const { texts, faults } = await read(
      zip([
        { name: 'a.txt', content: 'words' },
        { name, content: 'words' },
      ]),
    );
    expect([texts, faults.length]).toEqual([[], 1]);
    expect(faults[0]).toMatch(reason);
  });

  it('refuses a bomb, whatever sizes it claims', async () => {
    const zeros = Buffer.alloc(65 * 2 ** 20, 'a ');
    const bomb = zip([{ name: 'bomb.txt', content: zeros }]);
    expect(bomb.bytes.length).toBeLessThan(200_000);
    expect((await read(bomb)).faults[0]).toMatch(/unpacks to 65 MiB of texts, expected at most 64 MiB/);
    // The same with a claim of ten bytes, in its header and in the directory.
    const lying = Buffer.from(bomb.bytes);
    for (let at = lying.indexOf('PK\u0001\u0002'); at >= 0; at = lying.indexOf('PK\u0001\u0002', at + 1))
      lying.writeUInt32LE(10, at + 24);
    const { texts, faults } = await read({ name: 'export.zip', bytes: lying });
    expect(texts).toEqual([]);
    expect(faults[0]).toMatch(/bomb\.txt: can't be unpacked: too many bytes/);
    expect(deflateRawSync(zeros).length).toBeLessThan(200_000);
  });

  it('refuses a huge number of files, a damaged archive, and what is none', async () => {
    const many = zip(Array.from({ length: 20_001 }, (_, i) => ({ name: `${i}.txt`, content: 'x', stored: true })));
    expect((await read(many)).faults[0]).toMatch(/has 20001 files, expected at most 20000/);
    const whole = makeZip([{ name: 'a.txt', content: 'some words', stored: true }]);
    const damaged = Buffer.from(whole);
    damaged[damaged.indexOf('some')] = 0x53;
    expect((await read({ name: 'a.zip', bytes: damaged })).faults[0]).toMatch(/a\.zip\/a\.txt: .*checksum is wrong/);
    expect((await read({ name: 'a.zip', bytes: whole.subarray(0, 40) })).faults[0]).toMatch(/can't be opened as a zip/);
    expect((await read({ name: 'a.zip', bytes: Buffer.from('no zip at all') })).faults).toHaveLength(1);
    expect((await read(zip([{ name: 'a.png', content: 'x' }]))).faults[0]).toMatch(/files in the archive, got none/);
  });
});

describe('readSources of a folder', () => {
  it('reads its texts and those below, and follows no links', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'book', 'part'), { recursive: true });
    mkdirSync(join(folder, 'book', '.git'));
    writeFileSync(join(folder, 'outside.txt'), 'not mine');
    writeFileSync(join(folder, 'book', 'a.txt'), 'Some words');
    writeFileSync(join(folder, 'book', 'cover.jpg'), 'x');
    writeFileSync(join(folder, 'book', '.git', 'b.txt'), 'hidden');
    writeFileSync(join(folder, 'book', 'part', 'c.md'), '# Part\nwords');
    symlinkSync(join(folder, 'outside.txt'), join(folder, 'book', 'link.txt'));
    symlinkSync(join(folder, 'book'), join(folder, 'book', 'part', 'circle'));
    const { texts, faults } = await read({ name: 'book', path: join(folder, 'book') });
    expect([texts, faults]).toEqual([['a', 'Part'], []]);
  });

  it('reports a folder without texts', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'cover.jpg'), 'x');
    const { texts, faults } = await read({ name: 'book', path: folder });
    expect([texts, faults]).toEqual([[], ['book: expected .json, .jsonl, .txt or .md files in the folder, got none']]);
  });
});

describe('readSources with splitAtHeadings', () => {
  it('splits Markdown and plain text at their headings, and leaves others whole', async () => {
    const [one = '', two = ''] = [3, 4].map((i) => madeText(i, 40).text);
    const options = { splitAtHeadings: true };
    const md = { name: 'b.md', bytes: Buffer.from(`# The book\n\n## First *part*\n${one}\n\n## Second\n${two}\n`) };
    expect((await read(md, options)).texts).toEqual(['The book: First part', 'The book: Second']);
    expect((await read(md)).texts).toEqual(['The book']);
    const txt = { name: 'c.txt', bytes: Buffer.from(`CHAPTER I\n\n${one}\n\nCHAPTER II\n\n${two}`) };
    expect((await read(txt, options)).texts).toEqual(['c: CHAPTER I', 'c: CHAPTER II']);
    expect((await read({ name: 'd.txt', bytes: Buffer.from(one) }, options)).texts).toEqual(['d']);
  });
});
