/** The bytes of single tokens. */
import { openTokenTexts } from './token-texts.ts';
import type { Tokenizer } from './tokenizer.ts';

type Spelled = Pick<Tokenizer, 'bytesAs' | 'decode' | 'encode' | 'token'>;

/** How a token reads on its own. */
export interface Spelling {
  readonly text: string;
  /** Those of a token that is part of a character, whose text has U+FFFD; otherwise they are the text's. */
  readonly bytes?: readonly number[];
}

/** Of each id its spelling. */
export function openSpellings(tokenizer: Spelled): (id: number) => Spelling {
  const [textOf, spelled] = [openTokenTexts(tokenizer), openTokenBytes(tokenizer)];
  return (id) => {
    const text = textOf(id);
    return text.includes('\uFFFD') ? { text, bytes: [...Buffer.from(spelled(id), 'latin1')] } : { text };
  };
}

/** The bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The bytes of single tokens: also those that are only part of a character. */
export function openTokenBytes(tokenizer: Spelled): (id: number) => string {
  const text = openTokenTexts(tokenizer);
  const known = new Map<number, string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const token = tokenizer.token(id) ?? '';
    const bytes = ownBytes(token, tokenizer.bytesAs) ?? bytesOf(text(id));
    known.set(id, bytes);
    return bytes;
  };
}

/** What a token spells byte by byte; null: it spells a text. */
function ownBytes(token: string, kind: Tokenizer['bytesAs']): string | null {
  if (kind === 'characters') {
    const bytes = [...token].map((character) => BYTES.get(character));
    return bytes.every((byte) => byte !== undefined) ? String.fromCharCode(...bytes) : null;
  }
  const hex = kind === 'names' ? /^<0x([\da-f]{2})>$/i.exec(token)?.[1] : undefined;
  return hex === undefined ? null : String.fromCharCode(Number.parseInt(hex, 16));
}

/** GPT-2's characters for bytes: printable ones as they are, the others from U+0100 on. */
const BYTES = byteCharacters();

function byteCharacters(): ReadonlyMap<string, number> {
  const isPlain = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  let next = 0x100;
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(isPlain(byte) ? byte : next++), byte] as const),
  );
}
