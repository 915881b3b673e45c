/**
 * Which part of a name tells it from the others beside it, so that this part stays where there is no room for all:
 * `ten-words-all-checkpoints · step 200` ends in what its neighbours don't share. Pure.
 */
import { beginning } from './beginning.ts';

export interface NameParts {
  /** Shared with another name: shortened first. */
  readonly start: string;
  readonly end: string;
}

/** Shorter names have room everywhere. */
const SHORT = 16;
/** How far before the first difference the part may begin that stays. */
const WINDOW = 16;
/** How much of a name may stay so that it ends as no other does. */
const LONGEST_END = 24;
/** A start this short would hardly leave room for its own ellipsis: what follows is seen without moving it. */
const SHORTEST_START = 6;
const STRONG = [' · ', '/'] as const;
const WEAK = /[\s_.-]/;

/** Splits each of the names. */
export function tellApart(names: readonly string[]): (name: string) => NameParts {
  const all = [...new Set(names)];
  const starts = longestShared(all);
  const ends = longestShared(all.map(reversed));
  // Of thousands, a screen shows a few.
  return (name) => {
    const start = starts.get(name);
    return start === undefined ? { start: '', end: name } : partsOf(name, start, ends.get(reversed(name)) ?? 0);
  };
}

/** Splits one of the names, without sorting them all. */
export function partsAmong(names: readonly string[], name: string): NameParts {
  const others = names.filter((other) => other !== name);
  const start = others.reduce((most, other) => Math.max(most, sharedLength(name, other)), 0);
  const end = others.reduce((most, other) => Math.max(most, sharedEnd(name, other)), 0);
  return partsOf(name, start, end);
}

/** In at most so many characters, the end before the start. */
export function shortened({ start, end }: NameParts, most = 32): string {
  if (start.length + end.length <= most) return start + end;
  const kept = end.length <= most - 4 ? end : `${beginning(end, most - 5)}…`;
  const room = most - kept.length - 1;
  return room < 3 || start === '' ? kept : `${beginning(start, room).trimEnd()}…${kept}`;
}

function sharedLength(name: string, other: string | undefined): number {
  let length = 0;
  while (other !== undefined && length < name.length && name[length] === other[length]) length++;
  return length;
}

function sharedEnd(name: string, other: string): number {
  let length = 0;
  while (length < name.length && name.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

/** How much of its start each name shares with another one: in order, that is with one beside it. */
function longestShared(names: readonly string[]): Map<string, number> {
  const sorted = names.toSorted();
  return new Map(
    sorted.map((name, i) => [name, Math.max(sharedLength(name, sorted[i - 1]), sharedLength(name, sorted[i + 1]))]),
  );
}

const reversed = (name: string): string => name.split('').reverse().join('');

/** Of how much it shares at its start, and at its end. */
function partsOf(name: string, start: number, end: number): NameParts {
  const from = name.length <= SHORT ? 0 : uniqueFrom(name, end, boundary(name, start));
  const isSeen = from < SHORTEST_START || (from < SHORT && name.length - from > LONGEST_END);
  const at = isSeen ? 0 : characterAt(name, from);
  return { start: name.slice(0, at), end: name.slice(at) };
}

/** Made once, as the formatters of numbers are. */
const characters = new Intl.Segmenter('en');

/** Where the character begins that a place lies in: half an emoji, or a letter without its accent, is another one. */
function characterAt(name: string, place: number): number {
  return characters.segment(name).containing(place)?.index ?? place;
}

/** Further back, where another name has the same end and not much more tells it from that one. */
function uniqueFrom(name: string, shared: number, at: number): number {
  let from = name.length - shared - 1;
  if (from >= at) return at;
  while (from > 0 && !WEAK.test(name[from - 1] ?? '')) from--;
  return name.length - from <= LONGEST_END ? from : at;
}

/** The start of the word, or of the part after a dot or slash, in which the first difference is. */
function boundary(name: string, shared: number): number {
  const from = Math.max(0, shared - WINDOW);
  const before = name.slice(from, shared);
  const strong = Math.max(...STRONG.map((mark) => before.lastIndexOf(mark)));
  if (strong >= 0) return from + strong;
  let at = shared;
  while (at > from && !WEAK.test(name[at - 1] ?? '')) at--;
  return at > from ? at : shared;
}
