/** The text of single tokens, as they read within a text. */
import type { Tokenizer } from './tokenizer.ts';

/** Of each id its text: a control token's name, and U+FFFD for bytes that are part of a character. */
export function openTokenTexts(tokenizer: Pick<Tokenizer, 'decode' | 'encode' | 'token'>): (id: number) => string {
  // Some decoders drop the space before the first token of a text.
  const anchor = tokenizer.encode('a').slice(-1);
  const before = tokenizer.decode(anchor).length;
  const known = new Map<number, string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const own = tokenizer.decode([...anchor, id]).slice(before);
    const text = own === '' ? (tokenizer.token(id) ?? '') : own;
    known.set(id, text);
    return text;
  };
}
