/**
 * Cuts packed attention into blocks for workgroups. Pure. A segment is (start, length, prefix start, prefix length):
 * its tokens see all of the prefix, and of their own segment themselves and what comes before; one that is its own
 * prefix, all of itself. The query heads that share a key/value head count as further rows: row f of a segment is head f % G of its token f / G.
 */

interface Segment {
  readonly start: number;
  readonly length: number;
  readonly prefix: number;
  readonly prefixLength: number;
}

const isWhole = ({ start, prefix, prefixLength }: Segment): boolean => prefixLength > 0 && prefix === start;

/** Integers of a row block: segment start, its length, first row, prefix start, prefix length. */
export const ROW_BLOCK = 5;

/** Integers of a key block: first key, keys, first pair, pairs, the line of the results where its own begin. */
export const KEY_BLOCK = 5;

/** Integers of a pair: segment start, first row, end row, first visible key, end of the visible keys, causal. */
export const PAIR = 6;

/** Integers of a split: first key, keys, the first part's first line, parts. */
export const SPLIT = 4;

/** Blocks of one dispatch. */
interface KeyBlocks {
  readonly entries: Int32Array;
  /** Of each block: pairs of a row and a key. */
  readonly costs: readonly number[];
}

export interface KeyPlan {
  /** Blocks with all the rows that see them: their results' lines are the keys. */
  readonly whole: KeyBlocks;
  /** Parts of blocks, with a share of the rows each, whose results have lines of their own. */
  readonly parts: KeyBlocks;
  /** The blocks that `parts` are of. */
  readonly splits: Int32Array;
  /** Lines of all parts' results. */
  readonly lines: number;
  readonly pairs: Int32Array;
}

/**
 * A block with more than one of so many shares of all rows is split, so that the last bits of a prompt's gradients depend
 * on what else is in the batch.
 */
const SHARES = 128;

/** A part's rows are a multiple. */
const ROW_STEP = 32;
/** Rows below which a block isn't worth splitting. */
const LEAST_ROWS = 256;

function readSegments(table: ArrayLike<number>, tokens: number): Segment[] {
  const segments = Array.from({ length: table.length / 4 }, (_, i): Segment => {
    const [start = 0, length = 0, prefix = 0, prefixLength = 0] = [0, 1, 2, 3].map((k) => table[4 * i + k]);
    return { start, length, prefix, prefixLength };
  });
  for (const { start, length, prefix, prefixLength } of segments) {
    const inside = start >= 0 && start + length <= tokens && prefix >= 0 && prefix + prefixLength <= tokens;
    if (!inside)
      throw new RangeError(
        `Expected segments within ${tokens} tokens, got ${start}..${start + length} after ${prefix}..${prefix + prefixLength}`,
      );
  }
  return segments.filter(({ length }) => length > 0);
}

export interface RowPlan {
  readonly blocks: Int32Array;
  /** Of each block: pairs of a row and a key. */
  readonly costs: readonly number[];
}

/** Blocks of at most `rows` rows, the ones that see most first so that workgroups end together. */
export function rowPlan(table: ArrayLike<number>, tokens: number, groupSize: number, rows: number): RowPlan {
  const blocks = readSegments(table, tokens).flatMap((segment) => {
    const { start, length, prefix, prefixLength } = segment;
    return Array.from({ length: Math.ceil((length * groupSize) / rows) }, (_, i) => ({
      entry: [start, length, i * rows, prefix, prefixLength],
      keys: prefixLength + (isWhole(segment) ? 0 : Math.min(length, Math.ceil(((i + 1) * rows) / groupSize))),
    }));
  });
  blocks.sort((a, b) => b.keys - a.keys);
  return {
    blocks: Int32Array.from(blocks.flatMap(({ entry }) => entry)),
    costs: blocks.map(({ keys }) => rows * keys),
  };
}

/**
 * Blocks of at most `keys` keys, each with the rows that see any of them. A prompt's keys are seen by the rows of all its
 * completions: one workgroup for all of these would be at work long after the others have ended.
 */
export function keyPlan(table: ArrayLike<number>, tokens: number, groupSize: number, keys: number): KeyPlan {
  const blocks = keyBlocks(readSegments(table, tokens), groupSize, keys);
  const share =
    ROW_STEP * Math.ceil(Math.max(LEAST_ROWS, rowsOf(blocks.flatMap(({ pairs }) => pairs)) / SHARES) / ROW_STEP);
  const parts: KeyBlock[] = [];
  const splits: number[] = [];
  const [small, large] = [blocks.filter(({ rows }) => rows <= share), blocks.filter(({ rows }) => rows > share)];
  for (const { first, count, pairs, rows } of large) {
    const shares = cutPairs(pairs, ROW_STEP * Math.ceil(rows / Math.ceil(rows / share) / ROW_STEP));
    splits.push(first, count, keys * parts.length, shares.length);
    for (const own of shares) parts.push({ first, count, pairs: own, rows: rowsOf(own), line: keys * parts.length });
  }
  // The largest first, so that workgroups end together.
  const whole = small.sort((a, b) => b.rows - a.rows);
  let firstPair = 0;
  const entries = (some: readonly KeyBlock[]): KeyBlocks => ({
    entries: Int32Array.from(
      some.flatMap(({ first, count, pairs, line }) => {
        firstPair += pairs.length;
        return [first, count, firstPair - pairs.length, pairs.length, line];
      }),
    ),
    costs: some.map(({ rows }) => keys * rows),
  });
  return {
    whole: entries(whole),
    parts: entries(parts),
    splits: Int32Array.from(splits),
    lines: keys * parts.length,
    pairs: Int32Array.from([...whole, ...parts].flatMap(({ pairs }) => pairs.flat())),
  };
}

type Pair = readonly [start: number, firstRow: number, endRow: number, low: number, high: number, causal: number];

interface KeyBlock {
  readonly first: number;
  readonly count: number;
  readonly pairs: readonly Pair[];
  readonly rows: number;
  readonly line: number;
}

const rowsOf = (pairs: readonly Pair[]): number => pairs.reduce((sum, [, from, end]) => sum + end - from, 0);

function keyBlocks(segments: readonly Segment[], groupSize: number, keys: number): KeyBlock[] {
  return segments.flatMap((segment) => {
    const { start, length } = segment;
    const readers = segments.filter(
      ({ prefix, prefixLength }) => prefixLength > 0 && prefix < start + length && prefix + prefixLength > start,
    );
    return Array.from({ length: Math.ceil(length / keys) }, (_, i): KeyBlock => {
      const first = start + i * keys;
      const count = Math.min(keys, start + length - first);
      const own: Pair = [start, i * keys * groupSize, length * groupSize, first, first + count, 1];
      const others = readers
        .filter(({ prefix, prefixLength }) => prefix < first + count && prefix + prefixLength > first)
        .map((reader): Pair => {
          const end = reader.prefix + reader.prefixLength;
          return [reader.start, 0, reader.length * groupSize, reader.prefix, end, 0];
        });
      const pairs = isWhole(segment) ? others : [own, ...others];
      return { first, count, pairs, rows: rowsOf(pairs), line: first };
    });
  });
}

/** Cuts pairs into lists of at most `most` rows each. */
function cutPairs(pairs: readonly Pair[], most: number): Pair[][] {
  const lists: Pair[][] = [[]];
  let room = most;
  for (const [start, firstRow, endRow, ...seen] of pairs)
    for (let from = firstRow; from < endRow; ) {
      if (room === 0) {
        lists.push([]);
        room = most;
      }
      const end = Math.min(endRow, from + room);
      lists.at(-1)?.push([start, from, end, ...seen]);
      room -= end - from;
      from = end;
    }
  return lists;
}
