/** A source text, as files carry it and as the corpus keeps it. */
import { createHash } from 'node:crypto';
import { countWords, normalizeText } from '../../text/words.ts';

/** One text of a source file. */
export interface SourceText {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly source: string;
}

/** A source text with its size and identity. */
export interface CorpusText extends SourceText {
  readonly words: number;
  /** SHA-256 of the text without case and spacing: equal for exact duplicates. */
  readonly hash: string;
}

/** The identity of a text, whatever its case and spacing. */
export function identityOf(text: string): string {
  return createHash('sha256').update(normalizeText(text)).digest('hex');
}

/** Counts and identifies a text. */
export function corpusText(text: SourceText): CorpusText {
  return { ...text, words: countWords(text.text), hash: identityOf(text.text) };
}

const LONGEST_TITLE = 120;

/** A title on one line; from the text's first words where there is none. */
export function titleOf(given: string | undefined, text: string): string {
  const title = (given ?? '').replace(/\p{White_Space}+/gu, ' ').trim();
  if (title !== '') return title.slice(0, LONGEST_TITLE);
  const words = text.trim().split(/\p{White_Space}+/u);
  return `${words.slice(0, 6).join(' ')}${words.length > 6 ? ' …' : ''}`.slice(0, LONGEST_TITLE);
}

/** An id out of a title; of a title without Latin letters or digits, its hash. */
export function slug(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const made = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return made === '' ? `text-${identityOf(title).slice(0, 8)}` : made;
}

/** A name not taken yet: itself, or with the first free number after it. */
export function freeName(name: string, taken: ReadonlySet<string>, suffixed: (n: number) => string): string {
  if (!taken.has(name)) return name;
  let n = 2;
  while (taken.has(suffixed(n))) n++;
  return suffixed(n);
}
