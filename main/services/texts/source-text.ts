/** A source text, in files and in the corpus. */

import { createHash } from 'node:crypto';
import { beginning } from '../../text/beginning.ts';
import { oneForm } from '../../text/one-form.ts';
import { countSourceWords, isUnspaced, sourceWords } from '../../text/source-words.ts';
import { normalizeText } from '../../text/words.ts';

/** A side of the split between training and test. */
export type Side = 'train' | 'test';

/** One text of a source file. */
export interface SourceText {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly source: string;
  /** The side that it was put on when the first dataset was made from it. */
  readonly side?: Side | undefined;
}

/** A source text with its word count and hash. */
export interface CorpusText extends SourceText {
  readonly words: number;
  /** SHA-256 of the text ignoring case and spacing: equal for exact duplicates. */
  readonly hash: string;
}

/** The side of a text that contains others: one that was trained on can't be held out again. */
export function sideOf(parts: readonly SourceText[]): Side | undefined {
  const sides = parts.flatMap(({ side }) => side ?? []);
  return sides.includes('train') ? 'train' : sides[0];
}

/** The hash of a text, ignoring case, spacing and what nobody sees. */
function identityOf(text: string): string {
  return createHash('sha256')
    .update(normalizeText(oneForm(text)))
    .digest('hex');
}

/** Counts words and computes the hash. */
export function corpusText(text: SourceText): CorpusText {
  return { ...text, words: countSourceWords(text.text), hash: identityOf(text.text) };
}

const LONGEST_TITLE = 120;

/** A title on one line; from the text's first words if there is none. */
export function titleOf(given: string | undefined, text: string): string {
  const title = (given ?? '').replace(/\p{White_Space}+/gu, ' ').trim();
  if (title !== '') return beginning(title, LONGEST_TITLE);
  if (isUnspaced(text.slice(0, LONGEST_TITLE))) return firstWords(text);
  const words = text.trim().split(/\p{White_Space}+/u);
  return beginning(`${words.slice(0, 6).join(' ')}${words.length > 6 ? ' …' : ''}`, LONGEST_TITLE);
}

/** The first six words as they are written, without spaces between them. */
function firstWords(text: string): string {
  const start = beginning(text, 2 * LONGEST_TITLE).replace(/\p{White_Space}+/gu, ' ');
  const words = sourceWords(start);
  const end = words.slice(0, 6).reduce((at, word) => start.indexOf(word, at) + word.length, 0);
  return beginning(`${start.slice(0, end).trim()}${words.length > 6 ? ' …' : ''}`, LONGEST_TITLE);
}

/** An id from a title, or its hash if the title has no Latin letters or digits. */
export function slug(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const made = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return made === '' ? `text-${identityOf(title).slice(0, 8)}` : made;
}

/** An unused name: the name itself, or with the first free number appended. */
export function freeName(name: string, taken: ReadonlySet<string>, suffixed: (n: number) => string): string {
  if (!taken.has(name)) return name;
  let n = 2;
  while (taken.has(suffixed(n))) n++;
  return suffixed(n);
}
