/**
 * The words of a source text, from which fragments are cut. Scripts without spaces between words are cut by Unicode's
 * segmentation, once: fragments, prompts and targets then have spaces between all words (words.ts).
 */
import { splitWords } from './words.ts';

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
const OPENING = /^[\p{Ps}\p{Pi}]/u;

// A fixed locale: some have rules of their own, and the same texts must give the same dataset everywhere.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Whether a text has words of a script without spaces (Chinese, Japanese, Thai …). */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** The words of a source text; those of other scripts are the ones of `splitWords`. */
export function sourceWords(text: string): string[] {
  const parts = splitWords(text);
  return isUnspaced(text) ? parts.flatMap((part) => (isUnspaced(part) ? cut(part) : [part])) : parts;
}

/** How many words a source text has. */
export function countSourceWords(text: string): number {
  return sourceWords(text).length;
}

/** Punctuation stays with the word before it, opening marks with the one after; "state-of-the-art" stays whole. */
function cut(part: string): string[] {
  const words: string[] = [];
  const segments = [...segmenter.segment(part)];
  let word = '';
  // null: it has opening marks only so far.
  let kind: 'unspaced' | 'spaced' | null = null;
  const start = (): void => {
    if (kind !== null) words.push(word);
    if (kind !== null) word = '';
    kind = null;
  };
  segments.forEach(({ segment, isWordLike = false }, i) => {
    if (isWordLike) {
      const next = isUnspaced(segment) ? 'unspaced' : 'spaced';
      if (next === 'unspaced' || kind === 'unspaced') start();
      kind = next;
    } else if (OPENING.test(segment)) {
      const after = segments[i + 1];
      const isWithin = kind === 'spaced' && after?.isWordLike === true && !isUnspaced(after.segment);
      if (!isWithin) start();
    }
    word += segment;
  });
  if (kind === null && words.length > 0) words.push(`${words.pop()}${word}`);
  else words.push(word);
  return words;
}
