/**
 * Which texts nearly repeat others: exact Jaccard similarity and containment of word shingles, through an index from
 * shingle to texts, so that only texts that share something are ever compared.
 */
import { normalizeText } from './words.ts';

/** Words in one shingle: fewer and common phrases look like copies, more and light edits hide them. */
const SHINGLE_WORDS = 4;

/** A shared set of shingles above this share is a near duplicate … */
export const JACCARD_LIMIT = 0.5;
/** … and so is a text that lies almost wholly within another. */
export const CONTAINMENT_LIMIT = 0.8;

/** How alike two texts are. */
export interface Resemblance {
  /** Shared shingles / all shingles. */
  readonly jaccard: number;
  /** Shared shingles / the shingles of the text with fewer. */
  readonly containment: number;
}

/** A text already known and how much a new one resembles it. */
export interface Resembled extends Resemblance {
  readonly index: number;
}

// Punctuation set apart: a copy with other commas or quotation marks is still a copy.
const PUNCTUATION = /[\p{P}\p{S}]+/gu;

/** The distinct word shingles of a text; a text shorter than one shingle is a single shingle. */
export function shingles(text: string, size: number = SHINGLE_WORDS): Set<string> {
  const words = normalizeText(text.replace(PUNCTUATION, ' ')).split(' ');
  const out = new Set<string>();
  for (let i = 0; i + size <= words.length; i++) out.add(words.slice(i, i + size).join(' '));
  if (out.size === 0) out.add(words.join(' '));
  return out;
}

/** How alike two sets of shingles are. */
export function resemblance(a: ReadonlySet<string>, b: ReadonlySet<string>): Resemblance {
  let shared = 0;
  for (const shingle of a) if (b.has(shingle)) shared++;
  return measured(shared, a.size, b.size);
}

function measured(shared: number, a: number, b: number): Resemblance {
  return { jaccard: shared / (a + b - shared), containment: shared / Math.min(a, b) };
}

/** Whether two texts are near duplicates. */
export function isNearDuplicate(r: Resemblance): boolean {
  return r.jaccard >= JACCARD_LIMIT || r.containment >= CONTAINMENT_LIMIT;
}

/** A growing index of texts that finds the one a new text most resembles. */
export interface ShingleIndex {
  /** Adds a text under the next index (0, 1, …). */
  add(text: string): void;
  /** The near duplicates of a text among those added, most alike first. */
  nearDuplicates(text: string): Resembled[];
}

/** Opens an empty index. */
export function shingleIndex(): ShingleIndex {
  const holders = new Map<string, number[]>();
  const sizes: number[] = [];
  return {
    add(text) {
      const own = shingles(text);
      for (const shingle of own) {
        const list = holders.get(shingle);
        if (list === undefined) holders.set(shingle, [sizes.length]);
        else list.push(sizes.length);
      }
      sizes.push(own.size);
    },
    nearDuplicates(text) {
      const own = shingles(text);
      const shared = new Map<number, number>();
      for (const shingle of own)
        for (const index of holders.get(shingle) ?? []) shared.set(index, (shared.get(index) ?? 0) + 1);
      return [...shared]
        .map(([index, count]) => ({ index, ...measured(count, own.size, sizes[index] ?? 0) }))
        .filter(isNearDuplicate)
        .sort((x, y) => y.jaccard - x.jaccard || x.index - y.index);
    },
  };
}
