/** The words that two versions of a text share, and those that only one has: for texts of any length. */
import { alignWords } from './alignment.ts';
import { sourceWords } from './source-words.ts';

/** Consecutive words of one kind, in reading order. */
export interface DiffRun {
  readonly kind: 'same' | 'first' | 'second';
  readonly words: readonly string[];
}

/** Cells of an exact alignment; a larger stretch without a common rare word counts as different altogether. */
const MOST_CELLS = 4_000_000;

/** Compares two texts word by word. */
export function diffWords(first: string, second: string): DiffRun[] {
  const runs: { kind: DiffRun['kind']; words: string[] }[] = [];
  const push = (kind: DiffRun['kind'], words: readonly string[]): void => {
    if (words.length === 0) return;
    const last = runs.at(-1);
    if (last?.kind === kind) for (const word of words) last.words.push(word);
    else runs.push({ kind, words: [...words] });
  };
  compare(sourceWords(first), sourceWords(second), push);
  return runs;
}

type Push = (kind: DiffRun['kind'], words: readonly string[]) => void;

/** Common ends first; then at the words that occur once in both (patience diff); then what is between, exactly. */
function compare(first: readonly string[], second: readonly string[], push: Push): void {
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start++;
  let end = 0;
  while (end < shorter - start && first.at(-1 - end) === second.at(-1 - end)) end++;
  push('same', first.slice(0, start));
  between(first.slice(start, first.length - end), second.slice(start, second.length - end), push);
  push('same', first.slice(first.length - end));
}

function between(first: readonly string[], second: readonly string[], push: Push): void {
  if (first.length * second.length <= MOST_CELLS) {
    aligned(first, second, push);
    return;
  }
  const anchors = commonOnce(first, second);
  if (anchors.length === 0) {
    push('first', first);
    push('second', second);
    return;
  }
  let [i, j] = [0, 0];
  for (const [at, other] of anchors) {
    between(first.slice(i, at), second.slice(j, other), push);
    push('same', first.slice(at, at + 1));
    [i, j] = [at + 1, other + 1];
  }
  between(first.slice(i), second.slice(j), push);
}

function aligned(first: readonly string[], second: readonly string[], push: Push): void {
  let [left, right]: [string[], string[]] = [[], []];
  const flush = (): void => {
    push('first', left);
    push('second', right);
    [left, right] = [[], []];
  };
  for (const { kind, expected, got } of alignWords(first, second)) {
    if (kind === 'match') {
      flush();
      push('same', expected === null ? [] : [expected]);
      continue;
    }
    if (expected !== null) left.push(expected);
    if (got !== null) right.push(got);
  }
  flush();
}

/** Places of words that occur once in both, in an order that both texts share: the longest increasing sequence. */
function commonOnce(first: readonly string[], second: readonly string[]): (readonly [number, number])[] {
  const inSecond = onceIn(second);
  const pairs = [...onceIn(first)].flatMap(([word, at]) => {
    const other = inSecond.get(word);
    return other === undefined ? [] : [[at, other] as const];
  });
  // Patience sorting: `tops[n]` ends the best sequence of n + 1 pairs so far.
  const tops: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, other], k) => {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tops[middle] ?? 0]?.[1] ?? 0) < other) low = middle + 1;
      else high = middle;
    }
    before[k] = low === 0 ? -1 : (tops[low - 1] ?? -1);
    tops[low] = k;
  });
  const chain: (readonly [number, number])[] = [];
  for (let k = tops.at(-1) ?? -1; k >= 0; k = before[k] ?? -1) {
    const pair = pairs[k];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}

/** The words that occur once, with their places, in order. */
function onceIn(words: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  words.forEach((word, i) => {
    if (places.has(word)) repeated.add(word);
    else places.set(word, i);
  });
  for (const word of repeated) places.delete(word);
  return places;
}
