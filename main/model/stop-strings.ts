/**
 * Strings that end a completion, found across the borders of tokens as transformers' StopStringCriteria does: in the bytes
 * of the last tokens, those of the prompt among them; a string counts when its end lies in the newest token.
 */
import { openTokenTexts } from './token-texts.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Whether the last of a completion's tokens completes a stop string. */
export type StopTest = (prompt: readonly number[], completion: readonly number[]) => boolean;

/** The test for a tokenizer, by default of its own strings; undefined: there are none. */
export function openStops(
  tokenizer: Tokenizer,
  strings: readonly string[] = tokenizer.stopStrings,
): StopTest | undefined {
  if (strings.length === 0) return undefined;
  const stops = strings.map(bytesOf);
  const longest = Math.max(...stops.map(({ length }) => length));
  const bytes = openTokenBytes(tokenizer);
  return (prompt, completion) => {
    const last = bytes(completion.at(-1) ?? -1);
    let tail = last;
    for (let back = 2; tail.length < last.length + longest; back++) {
      const id = completion.at(-back) ?? prompt.at(completion.length - back);
      if (id === undefined) break;
      tail = bytes(id) + tail;
    }
    return stops.some((stop) => tail.indexOf(stop, Math.max(0, tail.length - last.length - stop.length + 1)) >= 0);
  };
}

/** A completion's text without what its last token has beyond the stop string that ended it. */
export function cutAfterStop(text: string, strings: readonly string[]): string {
  const ends = strings.flatMap((stop) => {
    const at = text.indexOf(stop);
    return at < 0 ? [] : [at + stop.length];
  });
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** The tokenizer whose texts end with one of its stop strings. */
export function withStops(tokenizer: Tokenizer): Tokenizer {
  const { stopStrings: strings } = tokenizer;
  if (strings.length === 0) return tokenizer;
  return { ...tokenizer, decode: (ids) => cutAfterStop(tokenizer.decode(ids), strings) };
}

/** The bytes of a text, one character each. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The bytes of single tokens: also those that are only part of a character. */
function openTokenBytes(tokenizer: Tokenizer): (id: number) => string {
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
