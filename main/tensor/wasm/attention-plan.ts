/**
 * Divides packed attention into blocks: which rows (queries) of which tokens attend to which keys. Pure, and independent
 * of the number of threads.
 *
 * A segment is (start, length, prefix start, prefix length): its tokens attend to all of the prefix and, causally,
 * to their own segment. One that is its own prefix attends to all of itself.
 */

/** Rows and keys of a block, as the kernels have them (assembly/blocks.ts). */
const blockSize = 64;

interface Segment {
  readonly start: number;
  readonly end: number;
  readonly prefix: number;
  readonly prefixEnd: number;
  /** Whether the prefix is the segment itself. */
  readonly isWhole: boolean;
}

interface Block {
  readonly start: number;
  readonly end: number;
}

/** A row block and a key block that it attends to: keys low … high-1, fewer for earlier tokens if causal. */
interface Pair {
  readonly key: number;
  readonly row: number;
  readonly low: number;
  readonly high: number;
  readonly causal: boolean;
  readonly cost: number;
}

/** The tables of attention-grad.ts, and what its parts cost relative to each other. */
export interface GradPlan {
  readonly keys: readonly number[];
  readonly rows: readonly number[];
  readonly pairsByKey: readonly number[];
  readonly pairsByRow: readonly number[];
  readonly groups: readonly number[];
  readonly totalCost: number;
  readonly largestGroupCost: number;
}

/** Reads and checks the segments of a batch of `tokens` tokens; returns them ordered by start. */
function readSegments(table: Int32Array, tokens: number): Segment[] {
  const segments: Segment[] = [];
  for (let at = 0; at < table.length; at += 4) {
    const [start = 0, length = 0, prefix = 0, prefixLength = 0] = table.subarray(at, at + 4);
    const isWhole = prefix === start && prefixLength === length;
    if (length > 0) segments.push({ start, end: start + length, prefix, prefixEnd: prefix + prefixLength, isWhole });
  }
  segments.sort((a, b) => a.start - b.start);
  let covered = 0;
  for (const segment of segments) {
    if (segment.start !== covered) {
      throw new RangeError(`Expected a segment to start at token ${covered}, got ${segment.start}`);
    }
    covered = segment.end;
    checkPrefix(segment, tokens);
  }
  if (covered !== tokens) throw new RangeError(`Expected the segments to cover ${tokens} tokens, got ${covered}`);
  return segments;
}

function checkPrefix({ start, end, prefix, prefixEnd, isWhole }: Segment, tokens: number): void {
  if (prefixEnd === prefix || isWhole) return;
  const inside = prefix >= 0 && prefixEnd > prefix && prefixEnd <= tokens;
  if (inside && (prefixEnd <= start || prefix >= end)) return;
  throw new RangeError(
    `Expected the prefix of segment ${start}..${end} to be outside it within 0..${tokens}, got ${prefix}..${prefixEnd}`,
  );
}

/** The table of row blocks for the forward kernel, the most expensive first so that threads end together. */
export function forwardPlan(table: Int32Array, tokens: number, group: number): number[] {
  const blocks = readSegments(table, tokens).flatMap((segment) =>
    cut(segment, tokensPerBlock(group)).map(({ start, end }) => ({
      // Own keys begin behind the block, so that there are none, where the prefix has them.
      entry: [start, end - start, ownFrom(segment, end), segment.prefix, segment.prefixEnd - segment.prefix],
      cost: (end - start) * (segment.prefixEnd - segment.prefix + end - ownFrom(segment, end)),
    })),
  );
  return blocks.sort((a, b) => b.cost - a.cost).flatMap((block) => block.entry);
}

/** The tables for the backward kernels. */
export function gradPlan(table: Int32Array, tokens: number, group: number): GradPlan {
  const keys: Block[] = [];
  const rows: Block[] = [];
  const pairs: Pair[] = [];
  const groups: { entry: number[]; cost: number }[] = [];
  for (const members of connected(readSegments(table, tokens))) {
    const firsts = [keys.length, rows.length, pairs.length] as const;
    for (const segment of members) keys.push(...cut(segment, blockSize));
    for (const segment of members) {
      const firstRow = rows.length;
      rows.push(...cut(segment, tokensPerBlock(group)));
      for (let row = firstRow; row < rows.length; row++) addPairs(pairs, segment, rows, row, keys, firsts[0]);
    }
    const entry = [firsts[0], keys.length - firsts[0], firsts[1], rows.length - firsts[1]];
    groups.push({ entry, cost: pairs.slice(firsts[2]).reduce((sum, pair) => sum + pair.cost, 0) });
  }
  groups.sort((a, b) => b.cost - a.cost);
  // Pairs were made row block by row block, their keys ascending: by key, rows ascend too.
  const byKey = sortedByKey(pairs, keys.length);
  return {
    keys: blockTable(
      keys,
      byKey.map((pair) => pair.key),
    ),
    rows: blockTable(
      rows,
      pairs.map((pair) => pair.row),
    ),
    pairsByKey: byKey.flatMap(pairEntry),
    pairsByRow: pairs.flatMap(pairEntry),
    groups: groups.flatMap((each) => each.entry),
    totalCost: groups.reduce((sum, each) => sum + each.cost, 0),
    largestGroupCost: groups[0]?.cost ?? 0,
  };
}

function ownFrom({ start, isWhole }: Segment, end: number): number {
  return isWhole ? end : start;
}

function tokensPerBlock(group: number): number {
  return Math.floor(blockSize / group);
}

function cut({ start, end }: Block, size: number): Block[] {
  return Array.from({ length: Math.ceil((end - start) / size) }, (_, i) => ({
    start: start + i * size,
    end: Math.min(end, start + (i + 1) * size),
  }));
}

/** Segments in groups that share no key with each other, each in the order of its start. */
function connected(segments: readonly Segment[]): Segment[][] {
  const parents = segments.map((_, index) => index);
  const root = (index: number): number => {
    const parent = parents[index] ?? index;
    return parent === index ? index : root(parent);
  };
  segments.forEach((segment, index) => {
    if (segment.prefixEnd === segment.prefix) return;
    for (let other = segmentAt(segments, segment.prefix); other < segments.length; other++) {
      if ((segments[other]?.start ?? 0) >= segment.prefixEnd) break;
      const [a, b] = [root(index), root(other)];
      parents[Math.max(a, b)] = Math.min(a, b);
    }
  });
  const groups = new Map<number, Segment[]>();
  segments.forEach((segment, index) => {
    const key = root(index);
    groups.set(key, [...(groups.get(key) ?? []), segment]);
  });
  return [...groups.values()];
}

/** Index of the segment that holds a token. */
function segmentAt(segments: readonly Segment[], token: number): number {
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((segments[middle]?.start ?? 0) <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Adds the pairs of one row block with the key blocks of its group. */
function addPairs(
  pairs: Pair[],
  segment: Segment,
  rows: readonly Block[],
  row: number,
  keys: readonly Block[],
  firstKey: number,
): void {
  const { start, end } = rows[row] ?? segment;
  for (let key = firstKey; key < keys.length; key++) {
    const block = keys[key] ?? segment;
    const own = !segment.isWhole && block.start >= segment.start && block.start < end;
    const low = own ? 0 : Math.max(0, segment.prefix - block.start);
    const high = own ? Math.min(block.end, end) - block.start : Math.min(block.end, segment.prefixEnd) - block.start;
    const isOwnLater = !own && !segment.isWhole && block.start >= segment.start && block.start < segment.end;
    if (high <= low || isOwnLater) continue;
    pairs.push({ key, row, low, high, causal: own, cost: (end - start) * high });
  }
}

function sortedByKey(pairs: readonly Pair[], keys: number): Pair[] {
  const buckets: Pair[][] = Array.from({ length: keys }, () => []);
  for (const pair of pairs) buckets[pair.key]?.push(pair);
  return buckets.flat();
}

function pairEntry({ key, row, low, high, causal }: Pair): number[] {
  return [key, row, low, high, causal ? 1 : 0];
}

/** First token, tokens, first pair and number of pairs of each block; `owners` names each pair's block, ascending. */
function blockTable(blocks: readonly Block[], owners: readonly number[]): number[] {
  const counts = blocks.map(() => 0);
  for (const owner of owners) counts[owner] = (counts[owner] ?? 0) + 1;
  let first = 0;
  return blocks.flatMap(({ start, end }, index) => {
    const count = counts[index] ?? 0;
    first += count;
    return [start, end - start, first - count, count];
  });
}
