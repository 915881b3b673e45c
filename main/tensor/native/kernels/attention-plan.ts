/**
 * How a packed batch is cut into blocks that TensorFlow's batched products can take: prompts by themselves, then for
 * each prompt its completions, all padded to the longest of their block. Pure.
 */

// N tokens, P prompts of a block, G completions of each, T tokens of a query row, L tokens of a prefix.

/** One block. Padding points to row 0 and is masked, or to -1 where it must be left out. */
export interface AttentionBlock {
  readonly prompts: number;
  readonly group: number;
  readonly tokens: number;
  /** 0: none. */
  readonly prefix: number;
  /** The packed token of each query place, -1 for padding. [P*G*T] */
  readonly rows: Int32Array;
  /** The same for the prefix. [P*L] */
  readonly prefixRows: Int32Array;
  /** 0 where a query place sees a key place, very negative where not; prefix first, then own tokens. [P, T, L+T] */
  readonly mask: Float32Array;
}

interface Segment {
  readonly start: number;
  readonly length: number;
}

interface Group {
  readonly prefix: Segment;
  readonly members: readonly Segment[];
}

const HIDDEN = -1e30;

/** Floats of a block's scores: 128 MiB. */
export const MAX_SCORES = 2 ** 25;
/** Tensors as large as a block's scores that the gradient holds at a time; a forward pass holds two. */
export const SCORES_AT_ONCE = 3;

/** Bytes of a layer's attention besides its inputs and outputs. One row is never cut, however long it is. */
export function attentionBytes(heads: number, promptTokens: number, completionTokens: number): number {
  const row = Math.max(promptTokens ** 2, completionTokens * (promptTokens + completionTokens));
  return 4 * SCORES_AT_ONCE * Math.max(MAX_SCORES, heads * row);
}

/**
 * Blocks of a segment table [S * 4] of (start, length, prefixStart, prefixLength). A block's scores, for `heads` query
 * heads, take at most `maxFloats`, unless one row alone takes more.
 */
export function planAttention(segments: Int32Array, heads: number, maxFloats: number): readonly AttentionBlock[] {
  return groupSegments(segments).flatMap((groups) => cutBlocks(groups, heads, maxFloats).map(makeBlock));
}

/** Groups with as many members as they have, those without a prefix and those with one apart. */
function groupSegments(segments: Int32Array): readonly (readonly Group[])[] {
  const alone: Group[] = [];
  const byPrefix = new Map<string, { prefix: Segment; members: Segment[] }>();
  for (let s = 0; s < segments.length; s += 4) {
    const [start = 0, length = 0, prefixStart = 0, prefixLength = 0] = segments.subarray(s, s + 4);
    if (length === 0) continue;
    if (prefixLength === 0) {
      alone.push({ prefix: { start: 0, length: 0 }, members: [{ start, length }] });
      continue;
    }
    const key = `${prefixStart}+${prefixLength}`;
    const group = byPrefix.get(key) ?? { prefix: { start: prefixStart, length: prefixLength }, members: [] };
    group.members.push({ start, length });
    byPrefix.set(key, group);
  }
  return [alone, [...byPrefix.values()]].filter((groups) => groups.length > 0);
}

/** Cuts groups so that each block fits: first between prompts, then within a group. */
function cutBlocks(groups: readonly Group[], heads: number, maxFloats: number): readonly (readonly Group[])[] {
  const blocks: Group[][] = [];
  let block: Group[] = [];
  const flush = (): void => {
    if (block.length > 0) blocks.push(block);
    block = [];
  };
  for (const group of groups) {
    if (size([...block, group]) * heads > maxFloats) flush();
    if (size([group]) * heads <= maxFloats) {
      block.push(group);
      continue;
    }
    const each = Math.max(1, Math.floor((maxFloats / (size([group]) * heads)) * group.members.length));
    for (let i = 0; i < group.members.length; i += each)
      blocks.push([{ prefix: group.prefix, members: group.members.slice(i, i + each) }]);
  }
  flush();
  return blocks;
}

/** Scores of a block a head. */
function size(block: readonly Group[]): number {
  const { group, tokens, prefix } = extent(block);
  return block.length * group * tokens * (prefix + tokens);
}

function extent(block: readonly Group[]) {
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
  return {
    group: most(block.map(({ members }) => members.length)),
    tokens: most(block.flatMap(({ members }) => members.map(({ length }) => length))),
    prefix: most(block.map(({ prefix }) => prefix.length)),
  };
}

function makeBlock(block: readonly Group[]): AttentionBlock {
  const { group, tokens, prefix } = extent(block);
  const rows = new Int32Array(block.length * group * tokens).fill(-1);
  const prefixRows = new Int32Array(block.length * prefix).fill(-1);
  const mask = new Float32Array(block.length * tokens * (prefix + tokens)).fill(HIDDEN);
  block.forEach(({ prefix: own, members }, p) => {
    const isWhole = own.length > 0 && own.start === members[0]?.start;
    members.forEach(({ start, length }, g) => {
      for (let t = 0; t < length; t++) rows[(p * group + g) * tokens + t] = start + t;
    });
    for (let l = 0; l < own.length; l++) prefixRows[p * prefix + l] = own.start + l;
    for (let t = 0; t < tokens; t++) {
      const row = (p * tokens + t) * (prefix + tokens);
      mask.fill(0, row, row + own.length);
      if (!isWhole) mask.fill(0, row + prefix, row + prefix + t + 1);
    }
  });
  return { prompts: block.length, group, tokens, prefix, rows, prefixRows, mask };
}
