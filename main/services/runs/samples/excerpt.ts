/** A short excerpt of a text around the search hit. Pure. */
import { beginning } from '../../../text/beginning.ts';
import { isUnspaced } from '../../../text/source-words.ts';

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

/** Positions of the search words: whole words, and the last one as a prefix, like the index; of scripts without spaces any. */
function findHits(text: string, search: string): readonly Hit[] {
  const terms = search.split(/\s+/u);
  const wanted = wordsIn(terms.filter((term) => !isUnspaced(term)).join(' ')).map(({ word }) => word);
  const last = wanted.at(-1) ?? '';
  const whole = new Set(wanted);
  const words = wordsIn(text).flatMap(({ word, start, end }): Hit[] =>
    whole.has(word) || (last.length >= 3 && word.startsWith(last)) ? [[start, end]] : [],
  );
  const inside = terms.filter(isUnspaced).flatMap((term) => placesOf(text, term));
  const hits = [...words, ...inside].sort(([a], [b]) => a - b);
  // One in another, or that begins in it, is a part of it.
  let past = 0;
  return hits.filter(([start, end]) => {
    const isApart = start >= past;
    if (isApart) past = end;
    return isApart;
  });
}

type Hit = readonly [start: number, end: number];

function placesOf(text: string, term: string): readonly Hit[] {
  const hits: Hit[] = [];
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length))
    hits.push([at, at + term.length]);
  return hits;
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
  return space <= limit - BEFORE ? beginning(text, limit).length : space;
}
