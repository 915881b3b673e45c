/**
 * Cuts packed attention into blocks for workgroups. Pure. A segment is (start, length, prefix start, prefix length):
 * its tokens see all of the prefix, and of their own segment themselves and what comes before. The query heads that
 * share a key/value head count as further rows: row f of a segment is head f % G of its token f / G.
 */

interface Segment {
  readonly start: number;
  readonly length: number;
  readonly prefix: number;
  readonly prefixLength: number;
}

/** Integers of a row block: segment start, its length, first row, prefix start, prefix length. */
export const ROW_BLOCK = 5;

/** Integers of a key block: first key, keys, first pair, pairs. */
export const KEY_BLOCK = 4;

/** Integers of a pair: segment start, first row, end row, first visible key, end of the visible keys, causal. */
export const PAIR = 6;

export interface KeyPlan {
  readonly blocks: Int32Array;
  readonly pairs: Int32Array;
  /** Of each block: pairs of a row and a key. */
  readonly costs: readonly number[];
}

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
  const blocks = readSegments(table, tokens).flatMap(({ start, length, prefix, prefixLength }) =>
    Array.from({ length: Math.ceil((length * groupSize) / rows) }, (_, i) => ({
      entry: [start, length, i * rows, prefix, prefixLength],
      keys: prefixLength + Math.min(length, Math.ceil(((i + 1) * rows) / groupSize)),
    })),
  );
  blocks.sort((a, b) => b.keys - a.keys);
  return {
    blocks: Int32Array.from(blocks.flatMap(({ entry }) => entry)),
    costs: blocks.map(({ keys }) => rows * keys),
  };
}

/** Blocks of at most `keys` keys, each with the rows that see any of them. */
export function keyPlan(table: ArrayLike<number>, tokens: number, groupSize: number, keys: number): KeyPlan {
  const segments = readSegments(table, tokens);
  const blocks: { readonly head: readonly number[]; readonly pairs: readonly number[][] }[] = [];
  for (const { start, length } of segments) {
    const readers = segments.filter(
      ({ prefix, prefixLength }) => prefixLength > 0 && prefix < start + length && prefix + prefixLength > start,
    );
    for (let first = start; first < start + length; first += keys) {
      const count = Math.min(keys, start + length - first);
      const own = [start, (first - start) * groupSize, length * groupSize, first, first + count, 1];
      const others = readers
        .filter(({ prefix, prefixLength }) => prefix < first + count && prefix + prefixLength > first)
        .map((reader) => {
          const end = reader.prefix + reader.prefixLength;
          return [reader.start, 0, reader.length * groupSize, reader.prefix, end, 0];
        });
      blocks.push({ head: [first, count], pairs: [own, ...others] });
    }
  }
  blocks.sort((a, b) => b.pairs.length - a.pairs.length);
  let firstPair = 0;
  const heads = blocks.flatMap(({ head, pairs }) => {
    firstPair += pairs.length;
    return [...head, firstPair - pairs.length, pairs.length];
  });
  return {
    blocks: Int32Array.from(heads),
    pairs: Int32Array.from(blocks.flatMap(({ pairs }) => pairs.flat())),
    costs: blocks.map(({ pairs }) => pairs.reduce((sum, [, from = 0, end = 0]) => sum + keys * (end - from), 0)),
  };
}
