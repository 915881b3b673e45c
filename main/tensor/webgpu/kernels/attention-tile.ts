/**
 * What the programs of packed attention share: a workgroup has a block of lines of its own (queries, or keys) and walks
 * over the others a tile at a time. Both products of a tile, scores and what is summed from them, are computed in
 * registers: a number that a lane reads from workgroup memory is used for several of its results.
 */
import { headsTooLarge } from '../faults.ts';
import { range } from '../program.ts';
import { ROW_BLOCK } from './attention-plan.ts';

/** Lines of a block, and of a tile. */
export const BLOCK = 32;

/** Vectors of four lines, or of four scores of a line, in a block. */
const FOURS = BLOCK / 4;

/** Vectors from one line of scores to the next: odd, so that lanes with lines beside each other read other banks. */
export const SCORES_STRIDE = FOURS + 1;

export interface Tile {
  /** Vectors of four in a head. */
  readonly vectors: number;
  /** Of them, those that are multiplied at a time for scores. */
  readonly depth: number;
  /** Lines of a tile that are in memory at a time where they are summed. */
  readonly lines: number;
  /** Lanes of a workgroup, and those of them that have columns of the same lines of a result. */
  readonly lanes: number;
  readonly across: number;
}

/** Vectors of four of a lane's results at most: more would end in slow memory. */
const MOST_SUMS = 16;

/** Vectors of both factors of scores in workgroup memory. */
const panelOf = ({ depth }: Pick<Tile, 'depth'>): number => 2 * 4 * depth * FOURS;

/** The tile of a program with so many results for each line of its block. Throws a BraidError if a line doesn't fit. */
export function tileFor(headDim: number, results: number, memory: number): Tile {
  if (headDim % 4 !== 0) throw new Error(`Expected a head_dim of a multiple of 4, got ${headDim}`);
  const vectors = headDim / 4;
  const wanted = 2 ** Math.ceil(Math.log2((results * BLOCK * vectors) / MOST_SUMS));
  const depth = Math.ceil(vectors / Math.ceil(vectors / FOURS));
  const lines = Math.min(BLOCK, Math.max(4, 2 ** Math.floor(Math.log2(panelOf({ depth: FOURS }) / vectors))));
  const tile = { vectors, depth, lines, lanes: Math.min(256, Math.max(64, wanted)), across: vectors < 16 ? 8 : 16 };
  if (workgroupBytes(tile) > memory) throw headsTooLarge(`heads of ${headDim}`, memory);
  return tile;
}

const panelVectors = (tile: Tile): number => Math.max(panelOf(tile), tile.lines * tile.vectors);

/** Bytes of workgroup memory that the programs take at most. */
export const workgroupBytes = (tile: Tile): number =>
  16 * (panelVectors(tile) + BLOCK * SCORES_STRIDE) + 4 * (tile.lanes + 4 * BLOCK);

/** Lines of the block whose scores a lane has, four keys each. */
export const scoreLines = ({ lanes }: Tile): number[] => range((BLOCK * FOURS) / lanes);

/** The lane's line `i` of the block in scores. */
export const scoreLine = (tile: Tile, i: number): string => `(lane / ${FOURS}u * ${scoreLines(tile).length}u + ${i}u)`;

/** The lane's four scores of a line begin at this one of the tile. */
export const FIRST_SCORE = `(4u * (lane % ${FOURS}u))`;

/** Lines of the block, and columns, whose sums a lane has. */
const sumLines = ({ lanes, across }: Tile): number[] => range((BLOCK * across) / lanes);
const sumColumns = ({ vectors, across }: Tile): number[] => range(Math.ceil(vectors / across));

/** A vector of four of the lane's sums. */
interface Sum {
  readonly name: string;
  /** Line of the block and vector of the head, as expressions. */
  readonly line: string;
  readonly column: string;
}

const sumsOf = (tile: Tile, result: string): Sum[] =>
  sumLines(tile).flatMap((r) =>
    sumColumns(tile).map((c) => ({
      name: `${result}${r}_${c}`,
      line: `(lane / ${tile.across}u * ${sumLines(tile).length}u + ${r}u)`,
      column: `(lane % ${tile.across}u + ${tile.across * c}u)`,
    })),
  );

/** Declares a lane's sums of a result, all 0. */
export const declareSums = (tile: Tile, result: string): string =>
  sumsOf(tile, result)
    .map(({ name }) => `  var ${name} = vec4<f32>(0.0);`)
    .join('\n');

/** Runs a statement for each of the lane's sums. */
export const forSums = (tile: Tile, result: string, statement: (sum: Sum) => string): string =>
  sumsOf(tile, result)
    .map((sum) => `    ${statement(sum)}`)
    .join('\n');

/** Runs a statement for each of the lane's sums that is one of the head's columns. */
export const storeSums = (tile: Tile, result: string, statement: (sum: Sum) => string): string =>
  forSums(tile, result, (sum) =>
    tile.vectors % tile.across === 0
      ? `{ ${statement(sum)} }`
      : `if (${sum.column} < ${tile.vectors}u) { ${statement(sum)} }`,
  );

/** Workgroup memory: the factors' panel, scores, and where the block's and the tile's lines lie in their tensors. */
export const panels = (tile: Tile): string => `
var<workgroup> panel: array<vec4<f32>, ${panelVectors(tile)}>;
var<workgroup> scores: array<vec4<f32>, ${BLOCK * SCORES_STRIDE}>;
var<workgroup> own: array<u32, ${BLOCK}>;
var<workgroup> others: array<u32, ${BLOCK}>;`;

/**
 * Where a vector of four lines lies in its panel: by the number of the head it is of, then by its place among the lines.
 * Lanes that write vectors four numbers apart write to other banks, and those that read lines beside each other do.
 */
export const placeInPanel = (number: string, fours: string): string =>
  `(${number}) * ${FOURS}u + ((${fours}) ^ ((${number}) / 4u % ${FOURS}u))`;

/** Four lines of a tensor by four of their numbers, transposed into the panel from `base` on: a piece a lane. */
function stage(tile: Tile, source: string, lines: 'own' | 'others', base: number): string {
  const { vectors, depth, lanes } = tile;
  const pieces = FOURS * depth;
  // The last lanes have the others' lines, so that both panels are filled at once where there are enough lanes.
  const piece = lines === 'own' ? 'lane' : `(lane - ${lanes - pieces}u)`;
  const mine = lines === 'own' ? `lane < ${pieces}u` : `lane >= ${lanes - pieces}u`;
  const value = (n: number): string => {
    const read = `${source}[${lines}[fours * 4u + ${n}u] * ${vectors}u + c0 + c]`;
    return vectors % depth === 0 ? read : `select(vec4<f32>(0.0), ${read}, c0 + c < ${vectors}u)`;
  };
  return `
      if (${mine}) {
        let fours = ${piece} / ${depth}u;
        let c = ${piece} % ${depth}u;
${range(4)
  .map((n) => `        let x${n} = ${value(n)};`)
  .join('\n')}
${[...'xyzw']
  .map(
    (part, n) =>
      `        panel[${base}u + ${placeInPanel(`4u * c + ${n}u`, 'fours')}] = vec4(x0.${part}, x1.${part}, x2.${part}, x3.${part});`,
  )
  .join('\n')}
      }`;
}

/**
 * Σ over a head of the block's lines of `a` by the tile's of `b`: the lane's four of its line i in `${name}i`. What was
 * written to `own` and `others` before is seen.
 */
export function scoresOf(tile: Tile, name: string, a: string, b: string): string {
  const { vectors, depth } = tile;
  const rows = scoreLines(tile);
  const first = panelOf(tile) / 2;
  // All four of a vector, or the lane's of them.
  const left = `panel[${placeInPanel('k', `lane / ${FOURS}u * ${rows.length}u / 4u`)}]`;
  const mine = (i: number): string =>
    rows.length === 4 ? `a.${'xyzw'[i]}` : `${left}[(lane / ${FOURS}u * ${rows.length}u + ${i}u) % 4u]`;
  return `
${rows.map((i) => `    var ${name}${i} = vec4<f32>(0.0);`).join('\n')}
    for (var c0 = 0u; c0 < ${vectors}u; c0 += ${depth}u) {
      workgroupBarrier();
${stage(tile, a, 'own', 0)}
${stage(tile, b, 'others', first)}
      workgroupBarrier();
      for (var k = 0u; k < ${4 * depth}u; k++) {
        let b = panel[${first}u + ${placeInPanel('k', `lane % ${FOURS}u`)}];
${rows.length === 4 ? `        let a = ${left};` : ''}
${rows.map((i) => `        ${name}${i} = fma(vec4(${mine(i)}), b, ${name}${i});`).join('\n')}
      }
    }`;
}

/** The lane's four scores of line i of the block, as they lie in memory. */
export const scorePlace = (tile: Tile, i: number): string =>
  `${scoreLine(tile, i)} * ${SCORES_STRIDE}u + lane % ${FOURS}u`;

/** Adds scores times the tile's lines of `source` to the result's sums. What was written to `scores` before is seen. */
export function addProducts(tile: Tile, result: string, source: string): string {
  const { vectors, lines, lanes, across } = tile;
  const columns = sumColumns(tile);
  const rows = sumLines(tile);
  const column = (c: number): string => {
    const at = `lane % ${across}u + ${across * c}u`;
    return vectors % across === 0 ? at : `min(${at}, ${vectors - 1}u)`;
  };
  return `
    for (var first = 0u; first < ${BLOCK}u; first += ${lines}u) {
      workgroupBarrier();
      for (var i = lane; i < ${lines * vectors}u; i += ${lanes}u) {
        panel[i] = ${source}[others[first + i / ${vectors}u] * ${vectors}u + i % ${vectors}u];
      }
      workgroupBarrier();
      for (var j = 0u; j < ${lines}u; j += 4u) {
${range(4)
  .flatMap((n) => columns.map((c) => `        let y${n}_${c} = panel[(j + ${n}u) * ${vectors}u + ${column(c)}];`))
  .join('\n')}
${rows
  .map((r) => {
    const line = `lane / ${across}u * ${rows.length}u + ${r}u`;
    const products = columns.flatMap((c) =>
      [...'xyzw'].map(
        (part, n) => `          ${result}${r}_${c} = fma(vec4(weights.${part}), y${n}_${c}, ${result}${r}_${c});`,
      ),
    );
    return `        {
          let weights = scores[(${line}) * ${SCORES_STRIDE}u + (first + j) / 4u];
${products.join('\n')}
        }`;
  })
  .join('\n')}
      }
    }`;
}

/** Where row f of the segment, and key u of all that it sees, lie; how many of them row f sees, which are the first. */
export const ROW_AND_KEY = `
var<private> start: u32;
var<private> rowsOfSegment: u32;
var<private> firstRow: u32;
var<private> prefix: u32;
var<private> prefixLength: u32;
fn rowPlace(f: u32, kvHead: u32) -> u32 { return (start + f / p.group) * p.heads + kvHead * p.group + f % p.group; }
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

/** A workgroup's start: where its block's rows lie, and how many keys the block sees (\`total\`). Lines beyond the last are it again: nothing is seen of them. */
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
  if (lane < ${BLOCK}u) { own[lane] = rowPlace(min(firstRow + lane, rowsOfSegment - 1u), kvHead); }`;

/** Where the tile's keys lie. */
export const OPEN_KEYS = `
    if (lane < ${BLOCK}u) { others[lane] = keyToken(min(u0 + lane, total - 1u)) * p.kvHeads + kvHead; }`;
