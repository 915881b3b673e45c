import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { type Member, makeZip } from '../../../main/io/make-zip.ts';
import { openDocuments } from '../../../main/services/text-worker/document-thread.ts';
import { readSources } from '../../../main/services/texts/sources.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeText } from './made-texts.ts';

const zip = (members: readonly Member[], name = 'export.zip') => ({ name, bytes: makeZip(members) });

const chat = JSON.stringify([{ title: 'Rivers', messages: [{ role: 'assistant', content: madeText(1, 60).text }] }]);

const documents = openDocuments(resolve(import.meta.dirname, '../../../main/services/text-worker/worker.ts'));
afterAll(() => documents.close());

async function read(source: Parameters<typeof readSources>[0][number], options = {}) {
  const { files, skipped } = await readSources([source], options, documents);
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
    expect([texts, faults]).toEqual([
      [],
      ['book: expected .txt, .md, .html, .docx, .pdf, .json or .jsonl files in the folder, got none'],
    ]);
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

describe('readSources of other files', () => {
  it.each([
    [
      'a.doc',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0]),
      /can't read an old Word document \(\.doc\); save it as \.docx or/,
    ],
    ['a.epub', Buffer.from('PK\u0003\u0004'), /can't read an e-book \(\.epub\); convert it/],
    [
      'a.txt',
      Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
      /expected text, got a binary file: a picture, sound or video/,
    ],
    ['a.md', makeZip([{ name: 'a', content: 'x' }]), /got a binary file: a zip archive or an Office document/],
    ['a.txt', Buffer.from('%PDF-1.7'), /got a PDF/],
    ['a.html', Buffer.from('GIF89a\0'), /a binary file: a picture/],
  ])('refuses %s by name, and says what it is', async (name, bytes, reason) => {
    const { texts, faults } = await read({ name, bytes });
    expect([texts, faults]).toEqual([[], [expect.stringMatching(reason)]]);
  });

  it('reads a page in the encoding that it declares', async () => {
    const page = Buffer.concat([
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>'),
      Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
    ]);
    const [file] = (await readSources([{ name: 'a.html', bytes: page }], {}, documents)).files;
    expect(file).toMatchObject({ encoding: 'declared', texts: [{ text: 'Привет' }] });
  });
});

describe('readSources of documents', () => {
  const types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>';
  const word = (body: string, more: readonly Member[] = []) =>
    makeZip([
      { name: '[Content_Types].xml', content: types },
      {
        name: 'word/document.xml',
        content: `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
      },
      ...more,
    ]);
  const paragraph = (text: string, style = '') =>
    `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
  const whole = async (name: string, bytes: Uint8Array, options = {}) =>
    (await readSources([{ name, bytes }], options, documents)).files[0];

  it('reads Word documents: headings, tables, no deleted words and no codes of fields', async () => {
    const styles = `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="u1"><w:name w:val="heading 1"/></w:style></w:styles>`;
    const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
    const body = [
      paragraph('The ferry', 'u1'),
      paragraph('It le\u00adft at &amp; noon.'),
      '<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText> deleted</w:delText></w:r></w:del><w:r><w:instrText> PAGE </w:instrText></w:r></w:p>',
      `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr></w:tbl>`,
    ].join('');
    const bytes = word(body, [{ name: 'word/styles.xml', content: styles }]);
    expect(await whole('My file.docx', bytes)).toMatchObject({
      faults: [],
      texts: [{ title: 'The ferry', text: 'It left at & noon.\n\nKept\n\na b', source: 'My file.docx' }],
    });
    expect(await read(zip([{ name: 'in/My file.docx', content: bytes }]))).toMatchObject({ texts: ['The ferry'] });
  });

  it('leaves out the marks of footnotes, and keeps the notes', async () => {
    const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
    const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    const bytes = word('<w:p><w:r><w:t>Term</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>', [
      {
        name: 'word/_rels/document.xml.rels',
        content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${office}/footnotes" Target="footnotes.xml"/></Relationships>`,
      },
      {
        name: 'word/footnotes.xml',
        content: `<w:footnotes ${w}><w:footnote w:id="2">${paragraph('The note.')}</w:footnote></w:footnotes>`,
      },
    ]);
    expect(await whole('a.docx', bytes)).toMatchObject({ texts: [{ text: 'Term\n\nThe note.' }] });
  });

  it('refuses other files as Word documents, a bomb, and damaged XML, by name', async () => {
    const reason = async (bytes: Uint8Array) => (await whole('a.docx', bytes))?.faults[0]?.reason;
    expect(await reason(Buffer.from('plain text'))).toMatch(/is not a Word document/);
    expect(await reason(Buffer.from('PK\u0003\u0004'))).toMatch(/is damaged, or not what its name says/);
    expect(await reason(makeZip([{ name: 'a.txt', content: 'x' }]))).toMatch(/is not a Word document/);
    expect(await reason(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]))).toMatch(/old Word document, or has a password/);
    expect(await reason(word('', [{ name: 'word/x.xml', content: ' '.repeat(65 * 2 ** 20) }]))).toMatch(
      /unpacks to 66 MiB of texts/,
    );
    expect(await reason(word('<w:p><w:r>'))).toMatch(/is damaged/);
  });

  it('reads PDFs: lines, divided words, paragraphs', async () => {
    const content =
      'BT /F 12 Tf 50 700 Td 14 TL (The ferry left at the exam-) Tj T* (ple of noon.) Tj T* T* (Second one.) Tj ET';
    expect(await whole('My ferry.pdf', madePdf(content))).toMatchObject({
      faults: [],
      texts: [{ title: 'My ferry', text: 'The ferry left at the example of noon.\n\nSecond one.' }],
    });
  });

  it('keeps the hyphen at a line end of PDFs in a compound that they have elsewhere', async () => {
    const lines = ['Well-known, an e-mail or email:', 'a well-', 'known exam-', 'ple, an e-', 'mail.'];
    const content = `BT /F 12 Tf 50 700 Td 14 TL ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
    expect(await whole('a.pdf', madePdf(content))).toMatchObject({
      texts: [{ text: 'Well-known, an e-mail or email:\na well-known example, an email.' }],
    });
  });

  it('leaves out page numbers and running titles of PDFs', async () => {
    const page = (text: string, number: string) =>
      `BT /F 12 Tf 50 700 Td 14 TL (The river) Tj T* (${text}) Tj T* (- ${number} -) Tj ET`;
    const pages = [page('It flowed', '1'), page('and on,', '2'), page('to the sea.', 'iii')];
    expect(await whole('a.pdf', madePdf(...pages))).toMatchObject({
      texts: [{ text: 'It flowed\nand on,\nto the sea.' }],
    });
  });

  it('refuses a PDF without text, and other files, by name', async () => {
    const reason = async (bytes: Uint8Array) => (await whole('a.pdf', bytes))?.faults[0]?.reason;
    expect(await reason(madePdf('0 0 m'))).toMatch(/has pages without text, such as a scan/);
    expect(await reason(Buffer.from('plain text'))).toMatch(/is damaged, or not what its name says/);
  });

  it('gives up on a document that takes too long or too much memory, and reads the next', async () => {
    const entry = resolve(import.meta.dirname, '../../../main/services/text-worker/worker.ts');
    const hasty = openDocuments(entry, { seconds: 0.001 });
    const small = openDocuments(entry, { mib: 4 });
    const good = word(paragraph('Some words'));
    await expect(hasty.read('a.docx', good)).rejects.toThrow(/takes more than 0.001 seconds to read; save it as \.txt/);
    await expect(small.read('a.docx', good)).rejects.toThrow(/takes more than 4 MiB of memory to read/);
    await Promise.all([hasty.close(), small.close()]);
    expect(await whole('a.docx', good)).toMatchObject({ texts: [{ text: 'Some words' }] });
  });
});

/** A PDF whose pages have these drawing operators. */
function madePdf(...contents: readonly string[]): Buffer {
  const kids = contents.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${contents.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...contents.flatMap((content, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${5 + 2 * i} 0 R/Resources<</Font<</F 3 0 R>>>>>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    ]),
  ];
  let out = '%PDF-1.4\n';
  const places = objects.map((object, i) => {
    const at = out.length;
    out += `${i + 1} 0 obj${object}endobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer<</Size ${size}/Root 1 0 R>>\n`;
  return Buffer.from(`${out}${table}startxref\n${out.length}\n%%EOF`, 'latin1');
}
