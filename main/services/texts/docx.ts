/** Word documents as HTML, by mammoth: paragraphs, headings, lists, tables and notes, without what was deleted. */
import mammoth from 'mammoth';
import { inputError } from '../../errors.ts';
import { makeZip } from '../../io/make-zip.ts';
import { MAX_UNPACKED, membersOf } from './archive.ts';

/** Only what a document's text is in: neither pictures nor fonts are unpacked. */
const PARTS = /(?:^|\/)[^/]+\.(?:xml|rels)$/;

export async function docxHtml(bytes: Uint8Array): Promise<string> {
  // Old Word documents, and new ones with a password, are another kind of container.
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf)
    throw inputError('BAD_DOCUMENT', 'is an old Word document, or has a password; save it as .docx without one');
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw notWord();
  const parts = await membersOf(bytes, (name) => PARTS.test(name));
  if (!parts.some(({ name }) => name === '[Content_Types].xml')) throw notWord();
  // mammoth trusts the sizes that an archive claims: it gets what was unpacked within limits, packed again.
  const buffer = makeZip(
    parts.map(({ name, bytes: content }) => ({ name, content: Buffer.from(content), stored: true })),
  );
  const { value } = await mammoth.convertToHtml(
    { buffer },
    { convertImage: mammoth.images.imgElement(async () => ({ src: '' })), externalFileAccess: false },
  );
  if (value.length > MAX_UNPACKED) throw inputError('BAD_DOCUMENT', 'has too much text; save it in parts');
  return value;
}

function notWord(): Error {
  return inputError('BAD_DOCUMENT', 'is not a Word document; open it in its program, and save it as .docx or .txt');
}
