/** A short excerpt of a text around the search hit. Pure. */

export interface Segment {
  readonly text: string;
  /** Whether it is a search hit. */
  readonly hit: boolean;
}

/** Characters before the first hit, and of the whole excerpt. */
const BEFORE = 50;
const LENGTH = 220;

/** The part of `text` around the first hit, cut at words; without hits its start. */
export function excerptOf(text: string, search = ''): readonly Segment[] {
  const flat = text.replace(/\s+/gu, ' ').trim();
  const hits = findHits(flat, search);
  const from = startOf(flat, hits[0]?.[0] ?? 0);
  const to = flat.length <= from + LENGTH ? flat.length : endOf(flat, from + LENGTH);
  const segments: Segment[] = from > 0 ? [{ text: '… ', hit: false }] : [];
  let at = from;
  for (const [start, end] of hits.filter(([start, end]) => start >= from && end <= to)) {
    if (start > at) segments.push({ text: flat.slice(at, start), hit: false });
    segments.push({ text: flat.slice(start, end), hit: true });
    at = end;
  }
  if (at < to) segments.push({ text: flat.slice(at, to), hit: false });
  if (to < flat.length) segments.push({ text: ' …', hit: false });
  return segments;
}

/** Whether the text has any word of the search. */
export function hasHit(text: string, search: string): boolean {
  return findHits(text, search).length > 0;
}

/** Positions of the search words: whole words, and the last one as a prefix, like the index. */
function findHits(text: string, search: string): readonly (readonly [number, number])[] {
  const wanted = wordsIn(search).map(({ word }) => word);
  const beginning = wanted.at(-1) ?? '';
  const whole = new Set(wanted);
  return wordsIn(text).flatMap(({ word, start, end }) =>
    whole.has(word) || (beginning.length >= 3 && word.startsWith(beginning)) ? [[start, end] as const] : [],
  );
}

function wordsIn(text: string): { readonly word: string; readonly start: number; readonly end: number }[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}\p{M}]+/gu), ({ 0: found, index }) => ({
    word: plain(found),
    start: index,
    end: index + found.length,
  }));
}

/** Like the full-text index: ignoring case and accents. */
function plain(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function startOf(text: string, firstHit: number): number {
  if (firstHit <= BEFORE) return 0;
  const space = text.indexOf(' ', firstHit - BEFORE);
  return space < 0 || space >= firstHit ? firstHit : space + 1;
}

function endOf(text: string, limit: number): number {
  const space = text.lastIndexOf(' ', limit);
  return space <= limit - BEFORE ? limit : space;
}
