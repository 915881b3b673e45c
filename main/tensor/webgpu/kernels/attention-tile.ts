/**
 * What the programs of packed attention share: a workgroup has a block of lines of its own (queries, or keys) and walks
 * over the others a tile at a time. Scores are its block times the tile; what is made of them, times the tile again, is
 * summed up. How these products are computed is for `Products` to say: in registers, or on matrix units.
 */
import { range } from '../program.ts';
import { ROW_BLOCK } from './attention-plan.ts';

/** Lines of a block, and of a tile. */
export const BLOCK = 32;

/** Vectors of four lines, or of four scores of a line. */
export const FOURS = BLOCK / 4;

/** A tensor that a program multiplies, by its name in it. */
export type Source = 'q' | 'k' | 'v' | 'dy';

/**
 * What the tile's lines are weighted with. Probabilities of a row are relative to a score that its largest exceeds by
 * `RAISE` at most; gradients are those of the scores before `scale`.
 */
export type Weights = 'probabilities' | 'gradients';

/** How much a row's largest score may grow before the row's sums so far are scaled down. */
export const RAISE = 4;

/** A vector of four of a result, and its line of the block and place in the head, all as expressions. */
export interface Stored {
  readonly vector: string;
  readonly line: string;
  readonly column: string;
}

/** The products of a workgroup, as statements of its program. */
export interface Products {
  /** Ends the program's name. */
  readonly suffix: string;
  /** Of the program, where it needs them. */
  readonly directives: readonly string[];
  readonly subgroup: number | null;
  readonly lanes: number;
  /** Vectors of four in a head. */
  readonly vectors: number;
  /** Workgroup memory. */
  readonly declarations: string;
  /** The program's start, with where it finds each tensor's scale. */
  open(scales: Scales): string;
  /** Declares a result's sums, all 0. */
  declareSums(result: string): string;
  /**
   * Σ over a head of the block's lines of `a` by the tile's of `b`: of the lane's line i, its four in `${name}i`. What was
   * written to `own` and `others` before is seen.
   */
  scoresOf(name: string, a: Source, b: Source): string;
  /** Keeps what the tile's lines are to be weighted with: the lane's four of its line i. */
  keepWeights(kind: Weights, four: (i: number) => string): string;
  /** Adds the weights times the tile's lines of `source` to the result's sums. What was kept before is seen. */
  addProducts(result: string, source: Source): string;
  /** Multiplies the sums of each line by `factors[line]`. */
  multiplySums(result: string): string;
  /** Runs a statement for all of the result, of such weights and source. */
  storeSums(result: string, kind: Weights, source: Source, statement: (stored: Stored) => string): string;
}

/** What a program takes over from its products. */
export const programOf = ({ suffix, directives, subgroup, lanes }: Products, name: string) => ({
  name: `${name}${suffix}`,
  directives,
  ...(subgroup !== null && { subgroup }),
  workgroup: lanes,
});

/** Powers of two that bring the largest number of a tensor near the top of a unit's range, as expressions. */
export type Scales = Readonly<Partial<Record<Source, string>>>;

/** Lines of the block whose scores a lane has, four keys each. */
export const scoreLines = ({ lanes }: Pick<Products, 'lanes'>): number[] => range((BLOCK * FOURS) / lanes);

/** The lane's line `i` of the block in scores. */
export const scoreLine = (products: Pick<Products, 'lanes'>, i: number): string =>
  `(lane / ${FOURS}u * ${scoreLines(products).length}u + ${i}u)`;

/** The lane's four scores of a line begin at this one of the tile. */
export const FIRST_SCORE = `(4u * (lane % ${FOURS}u))`;

/** Where the block's and the tile's lines lie in their tensors, and where row f of a segment does. */
export const LINES = `
var<workgroup> own: array<u32, ${BLOCK}>;
var<workgroup> others: array<u32, ${BLOCK}>;
fn rowPlace(start: u32, f: u32, kvHead: u32) -> u32 {
  return (start + f / p.group) * p.heads + kvHead * p.group + f % p.group;
}`;

/** Where key u of all that the block's segment sees lies; how many of them row f sees, which are the first. */
export const KEYS_OF_ROWS = `
var<private> start: u32;
var<private> rowsOfSegment: u32;
var<private> firstRow: u32;
var<private> prefix: u32;
var<private> prefixLength: u32;
fn keyToken(u: u32) -> u32 { return select(start + u - prefixLength, prefix + u, u < prefixLength); }
fn isWhole() -> bool { return prefixLength > 0u && prefix == start; }
fn seenBy(f: u32) -> u32 {
  let most = prefixLength + select(f / p.group + 1u, 0u, isWhole());
  return select(0u, most, f < rowsOfSegment);
}
/** Which of four keys are among the first \`seen\`. */
fn among(u: u32, seen: u32) -> vec4<bool> { return vec4(u, u + 1u, u + 2u, u + 3u) < vec4(seen); }
fn openBlock(at: u32) {
  start = u32(blocks[at]);
  rowsOfSegment = u32(blocks[at + 1u]) * p.group;
  firstRow = u32(blocks[at + 2u]);
  prefix = u32(blocks[at + 3u]);
  prefixLength = u32(blocks[at + 4u]);
}`;

/**
 * A workgroup's start: where its block's rows lie, and how many keys the block sees (`total`). Lines beyond the last are
 * the last again, with nothing that they see.
 */
export const OPEN_ROWS = `
  let kvHead = wg.y;
  let entry = (wg.x + p.skip) * ${ROW_BLOCK}u;
  openBlock(entry);
  // From the table, not from the variables: those may differ between lanes, and barriers must not depend on them.
  let lastRow = min(u32(blocks[entry + 2u]) + ${BLOCK - 1}u, u32(blocks[entry + 1u]) * p.group - 1u);
  let prefixKeys = u32(blocks[entry + 4u]);
  // A segment that is its own prefix has no keys besides.
  let ownKeys = select(lastRow / p.group + 1u, 0u, prefixKeys > 0u && blocks[entry + 3u] == blocks[entry]);
  let total = prefixKeys + ownKeys;
  if (lane < ${BLOCK}u) { own[lane] = rowPlace(start, min(firstRow + lane, rowsOfSegment - 1u), kvHead); }
  workgroupBarrier();`;

/** Where the tile's keys lie. */
export const OPEN_KEYS = `
    if (lane < ${BLOCK}u) { others[lane] = keyToken(min(u0 + lane, total - 1u)) * p.kvHeads + kvHead; }`;
