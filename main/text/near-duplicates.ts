/**
 * Finds near-duplicate texts: Jaccard similarity and containment of all word shingles, through an index from
 * shingle to texts, so that only texts that share something are ever compared.
 */
import { oneForm } from './one-form.ts';
import { sourceWords } from './source-words.ts';
import { normalizeText } from './words.ts';

/** Words in one shingle: with fewer, common phrases look like copies; with more, light edits hide copies. */
const SHINGLE_WORDS = 4;

/** Texts that share more than this fraction of their shingles are near duplicates … */
const JACCARD_LIMIT = 0.5;
/** … and so is a text that is almost entirely contained in another. */
const CONTAINMENT_LIMIT = 0.8;

/** Similarity of two texts. */
export interface Resemblance {
  /** Shared shingles / all shingles. */
  readonly jaccard: number;
  /** Shared shingles / the shingles of the text with fewer. */
  readonly containment: number;
}

/** An indexed text and how similar a new one is to it. */
export interface Resembled extends Resemblance {
  readonly index: number;
}

// Punctuation is ignored: a copy with different commas or quotation marks is still a copy.
const PUNCTUATION = /[\p{P}\p{S}]+/gu;

function plainWords(text: string): string[] {
  return sourceWords(normalizeText(oneForm(text).replace(PUNCTUATION, ' ')));
}

/** The distinct word shingles of a text; a text shorter than one shingle is a single shingle. */
export function shingles(text: string, size: number = SHINGLE_WORDS): Set<string> {
  const words = plainWords(text);
  const out = new Set<string>();
  for (let i = 0; i + size <= words.length; i++) out.add(words.slice(i, i + size).join(' '));
  if (out.size === 0) out.add(words.join(' '));
  return out;
}

/** Similarity of two sets of shingles. */
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

/** A growing index of texts that finds the ones most similar to a new text. */
export interface ShingleIndex {
  /** Adds a text under the next index (0, 1, …). */
  add(text: string): void;
  /** The near duplicates of a text among those added, most similar first. */
  nearDuplicates(text: string): Resembled[];
}

/** Opens an empty index. */
export function shingleIndex(): ShingleIndex {
  // Most shingles occur in one text only: only the others get a list.
  const holders = new Map<number, number | number[]>();
  const sizes: number[] = [];
  // Counted in place: a phrase shared by thousands of texts comes up thousands of times for each of them.
  let shared = new Uint32Array(256);
  return {
    add(text) {
      const own = shingleHashes(text);
      const index = sizes.length;
      for (const shingle of own) {
        const before = holders.get(shingle);
        if (before === undefined) holders.set(shingle, index);
        else if (typeof before === 'number') holders.set(shingle, [before, index]);
        else before.push(index);
      }
      sizes.push(own.size);
    },
    nearDuplicates(text) {
      const own = shingleHashes(text);
      if (shared.length < sizes.length) shared = new Uint32Array(2 * sizes.length);
      const touched: number[] = [];
      const count = (index: number): void => {
        const before = shared[index] ?? 0;
        if (before === 0) touched.push(index);
        shared[index] = before + 1;
      };
      for (const shingle of own) {
        const found = holders.get(shingle);
        if (typeof found === 'number') count(found);
        else if (found !== undefined) for (const index of found) count(index);
      }
      const found: Resembled[] = [];
      for (const index of touched) {
        const resemblance = measured(shared[index] ?? 0, own.size, sizes[index] ?? 0);
        if (isNearDuplicate(resemblance)) found.push({ index, ...resemblance });
        shared[index] = 0;
      }
      return found.sort((x, y) => y.jaccard - x.jaccard || x.index - y.index);
    },
  };
}

/**
 * The shingles of a text as numbers of 52 bits: a fifth of the time and memory of strings, and among the millions of
 * shingles of a large import no collision is expected.
 */
function shingleHashes(text: string): Set<number> {
  const words = plainWords(text);
  const high = words.map((word) => hashWord(word, 0x811c9dc5));
  const low = words.map((word) => hashWord(word, 0x2f0b4c47));
  const size = Math.min(SHINGLE_WORDS, words.length);
  const out = new Set<number>();
  for (let i = 0; i + size <= words.length; i++) {
    let [a, b] = [size, size];
    for (let k = i; k < i + size; k++) {
      a = Math.imul(a ^ (high[k] ?? 0), 0x85ebca6b);
      a ^= a >>> 13;
      b = Math.imul(b ^ (low[k] ?? 0), 0xc2b2ae35);
      b ^= b >>> 15;
    }
    out.add((a >>> 6) * 0x4000000 + (b >>> 6));
  }
  return out;
}

/** FNV-1a over UTF-16 units. */
function hashWord(word: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < word.length; i++) h = Math.imul(h ^ word.charCodeAt(i), 0x01000193);
  return h ^ (h >>> 15);
}
