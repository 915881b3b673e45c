/**
 * Which part of a name tells it from the others beside it, so that this part stays where there is no room for all:
 * `ten-words-all-checkpoints · step 200` ends in what its neighbours don't share. Pure.
 */

export interface NameParts {
  /** Shared with another name: shortened first. */
  readonly start: string;
  readonly end: string;
}

/** Shorter names have room everywhere. */
const SHORT = 16;
/** How far before the first difference the part may begin that stays. */
const WINDOW = 16;
const STRONG = [' · ', '/'] as const;
const WEAK = /[\s_.-]/;

/** Splits each of the names. */
export function tellApart(names: readonly string[]): (name: string) => NameParts {
  const sorted = [...new Set(names)].sort();
  const parts = new Map(
    sorted.map((name, i) => {
      const shared = Math.max(sharedLength(name, sorted[i - 1]), sharedLength(name, sorted[i + 1]));
      return [name, partsOf(name, shared)] as const;
    }),
  );
  return (name) => parts.get(name) ?? { start: '', end: name };
}

/** Splits one of the names, without sorting them all. */
export function partsAmong(names: readonly string[], name: string): NameParts {
  return partsOf(
    name,
    names.reduce((most, other) => (other === name ? most : Math.max(most, sharedLength(name, other))), 0),
  );
}

/** In at most so many characters, the end before the start. */
export function shortened({ start, end }: NameParts, most = 32): string {
  if (start.length + end.length <= most) return start + end;
  const kept = end.length <= most - 4 ? end : `${end.slice(0, most - 5)}…`;
  const room = most - kept.length - 1;
  return room < 3 || start === '' ? kept : `${start.slice(0, room).trimEnd()}…${kept}`;
}

function sharedLength(name: string, other: string | undefined): number {
  let length = 0;
  while (other !== undefined && length < name.length && name[length] === other[length]) length++;
  return length;
}

function partsOf(name: string, shared: number): NameParts {
  const at = name.length <= SHORT ? 0 : boundary(name, shared);
  return { start: name.slice(0, at), end: name.slice(at) };
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
