/**
 * Global alignment of two word sequences (Needleman & Wunsch 1970): match +1, mismatch -1, gap -1; of all optimal
 * alignments, one with the most matches. Score and match count travel as one number, `score * base + matches` with
 * `base` above any match count, so comparing two cells compares scores first and matches second.
 */

/** The optimum of an alignment: its Needleman-Wunsch score, and the maximum matched words among alignments with it. */
export interface AlignmentOptimum {
  readonly score: number;
  readonly matched: number;
}

export type AlignedKind = 'match' | 'wrong' | 'missing' | 'extra';

/** One column of an alignment. For a missing (extra) word, `completion` (`target`) is the index it would come before. */
export interface AlignedWord {
  readonly kind: AlignedKind;
  readonly target: number;
  readonly completion: number;
  /** The target's word; null for an extra word. */
  readonly expected: string | null;
  /** The completion's word; null for a missing word. */
  readonly got: string | null;
}

/** The middle of two sequences without their common prefix and suffix, as word numbers. */
interface Trimmed {
  readonly prefix: number;
  readonly suffix: number;
  readonly a: Int32Array;
  readonly b: Int32Array;
}

/** Matched words / the longer length: 1 for an exact completion, 0 when exactly one side is empty. */
export function alignmentScore(target: readonly string[], completion: readonly string[]): number {
  const longer = Math.max(target.length, completion.length);
  return longer === 0 ? 1 : optimalAlignment(target, completion).matched / longer;
}

/** The optimal score and match count, in memory proportional to the completion. */
export function optimalAlignment(target: readonly string[], completion: readonly string[]): AlignmentOptimum {
  const { prefix, suffix, a, b } = trim(target, completion);
  const base = packingBase(a, b);
  const packed = packedOptimum(a, b, base);
  const score = Math.floor(packed / base);
  return { score: score + prefix + suffix, matched: packed - score * base + prefix + suffix };
}

/** The optimal alignment word by word, for display; it matches as many words as `alignmentScore` counts. */
export function alignWords(target: readonly string[], completion: readonly string[]): AlignedWord[] {
  const { prefix, suffix, a, b } = trim(target, completion);
  const columns: AlignedWord[] = [];
  const push = (kind: AlignedKind, i: number, j: number): void => {
    const expected = kind === 'extra' ? null : (target[i] ?? null);
    columns.push({
      kind,
      target: i,
      completion: j,
      expected,
      got: kind === 'missing' ? null : (completion[j] ?? null),
    });
  };
  for (let k = 0; k < prefix; k++) push('match', k, k);
  for (const [kind, i, j] of middlePath(a, b)) push(kind, i + prefix, j + prefix);
  for (let k = suffix; k > 0; k--) push('match', target.length - k, completion.length - k);
  return columns;
}

/**
 * Cuts off the common ends. There is always an optimal alignment that matches them: replacing whatever the first words were
 * aligned with by their match never adds a gap and never loses a match.
 */
function trim(target: readonly string[], completion: readonly string[]): Trimmed {
  const shorter = Math.min(target.length, completion.length);
  let prefix = 0;
  while (prefix < shorter && target[prefix] === completion[prefix]) prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && target.at(-1 - suffix) === completion.at(-1 - suffix)) suffix++;
  const numbers = new Map<string, number>();
  return {
    prefix,
    suffix,
    a: wordNumbers(target, prefix, target.length - suffix, numbers),
    b: wordNumbers(completion, prefix, completion.length - suffix, numbers),
  };
}

function wordNumbers(words: readonly string[], from: number, to: number, numbers: Map<string, number>): Int32Array {
  const out = new Int32Array(to - from);
  for (let i = from; i < to; i++) {
    const word = words[i] as string;
    let number = numbers.get(word);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(word, number);
    }
    out[i - from] = number;
  }
  return out;
}

/** Above this many words on the shorter side, packed values would leave 32 bits. */
const MAX_WORDS = 26_000;

/** The larger of two 32-bit integers without a branch: which is larger is near random here, and mispredictions cost. */
function larger(x: number, y: number): number {
  const difference = (x - y) | 0;
  return (x - (difference & (difference >> 31))) | 0;
}

function packingBase(a: Int32Array, b: Int32Array): number {
  const shorter = Math.min(a.length, b.length);
  if (shorter > MAX_WORDS) throw new RangeError(`Expected at most ${MAX_WORDS} words to align, got ${shorter}`);
  return shorter + 1;
}

/**
 * The packed optimum of two sequences, on one rolling row. Cell (i, j) holds its value plus `base * (i + j)`, which
 * makes gaps cost nothing; where two words match, matching them is always optimal, so only the rest compares.
 */
function packedOptimum(a: Int32Array, b: Int32Array, base: number): number {
  const width = b.length;
  const row = new Int32Array(width + 1);
  const match = 3 * base + 1;
  for (let i = 0; i < a.length; i++) {
    const word = a[i];
    let diagonal = 0;
    let left = 0;
    for (let j = 0; j < width; j++) {
      const up = row[j + 1] as number;
      left = word === b[j] ? (diagonal + match) | 0 : larger(larger((diagonal + base) | 0, up), left);
      row[j + 1] = left;
      diagonal = up;
    }
  }
  return (row[width] as number) - base * (a.length + width);
}

const DIAGONAL = 0;
const UP = 1;
const LEFT = 2;

/** The same recurrence, keeping each cell's move: one byte a cell. */
function moves(a: Int32Array, b: Int32Array): Uint8Array {
  const base = packingBase(a, b);
  const width = b.length;
  const row = new Int32Array(width + 1);
  const out = new Uint8Array(a.length * width);
  for (let i = 0; i < a.length; i++) {
    let diagonal = 0;
    let left = 0;
    for (let j = 0; j < width; j++) {
      const up = row[j + 1] as number;
      let best = diagonal + (a[i] === b[j] ? 3 * base + 1 : base);
      let move = DIAGONAL;
      if (up > best) [best, move] = [up, UP];
      if (left > best) [best, move] = [left, LEFT];
      out[i * width + j] = move;
      row[j + 1] = best;
      left = best;
      diagonal = up;
    }
  }
  return out;
}

/** The optimal path through the middle, first column first. */
function middlePath(a: Int32Array, b: Int32Array): [AlignedKind, number, number][] {
  const move = moves(a, b);
  const path: [AlignedKind, number, number][] = [];
  let i = a.length;
  let j = b.length;
  while (i > 0 || j > 0) {
    const step = j === 0 ? UP : i === 0 ? LEFT : move[(i - 1) * b.length + j - 1];
    if (step !== LEFT) i--;
    if (step !== UP) j--;
    const kind = step === UP ? 'missing' : step === LEFT ? 'extra' : a[i] === b[j] ? 'match' : 'wrong';
    path.push([kind, i, j]);
  }
  return path.reverse();
}
