/**
 * What the programs of packed attention share. A team of lanes shares a row: its scores, and the
 * columns of its result, are dealt out among them.
 */
import { headsTooLarge } from '../faults.ts';
import { ROW_BLOCK } from './attention-plan.ts';

export interface Tile {
  /** Vectors of four in a head. */
  readonly vectors: number;
  /** Lanes that share a row. */
  readonly team: number;
  /** Rows of a block, a team of lanes each. */
  readonly rows: number;
  /** Keys of a tile. */
  readonly keys: number;
}

/** More lanes for the same panels, where each has columns of its own: some drivers have room for one workgroup's panels. */
const teamFor = (vectors: number): number => (vectors >= 16 ? 16 : 8);

/** Banks of a GPU's workgroup memory, of four bytes each: 16 bytes of eight lanes are served at a time. */
export const BANKS = 32;

/**
 * Numbers from one row of scores to the next: a team after the other starts on other banks. Where the teams of a
 * subgroup read one number each, or write one a lane, no two do it on the same bank.
 */
export function spread({ keys, team }: Pick<Tile, 'keys' | 'team'>): number {
  const odd = (keys / team) % 2 === 1 || keys < team;
  return odd ? keys : keys + team;
}

/**
 * The vector that comes `c`-th in a product with line `line` of a panel. Lanes beside each other have lines beside each
 * other, whole heads apart: all would read from the same banks if they began at the same vector.
 */
export const vectorOf = (c: string, line: string, vectors: number): string => `(${c} + ${line}) % ${vectors}u`;

/** Block and tile so that two of each (queries and their gradients, keys and values) fit into workgroup memory. */
export function tileFor(headDim: number, memory: number): Tile {
  const vectors = headDim / 4;
  const team = teamFor(vectors);
  let [rows, keys] = [16, 32];
  const bytes = (): number => 2 * (rows + keys) * headDim * 4 + 2 * rows * spread({ keys, team }) * 4 + 512;
  while (bytes() > memory && keys > 8) keys /= 2;
  while (bytes() > memory && rows > 2) rows /= 2;
  while (bytes() > memory && keys > 1) keys /= 2;
  if (headDim % 4 !== 0) throw new Error(`Expected a head_dim of a multiple of 4, got ${headDim}`);
  if (bytes() > memory) throw headsTooLarge(`heads of ${headDim}`, memory);
  return { vectors, team, rows, keys };
}

/** The parts of the columns that a lane has, as suffixes of variables: a loop over an array would end in slow memory. */
export const partsOf = ({ vectors, team }: Tile): number[] =>
  Array.from({ length: Math.ceil(vectors / team) }, (_, i) => i);

/** Runs a statement for each of a lane's columns. */
export function forColumns(tile: Tile, statement: (part: number, column: string) => string): string {
  return partsOf(tile)
    .map((part) => {
      const column = `(me + ${tile.team * part}u)`;
      const line = statement(part, column);
      return tile.team * (part + 1) <= tile.vectors
        ? `  { ${line} }`
        : `  if (${column} < ${tile.vectors}u) { ${line} }`;
    })
    .join('\n');
}

/** Statements that fill a panel in workgroup memory; `token` is an expression of j, the line in the panel. */
export function load(panel: string, source: string, lines: number, tile: Tile, valid: string, at: string): string {
  const lanes = tile.team * tile.rows;
  return `
  for (var i = lane; i < ${lines * tile.vectors}u; i += ${lanes}u) {
    let j = i / ${tile.vectors}u;
    let c = i % ${tile.vectors}u;
    var value = vec4<f32>(0.0);
    if (${valid}) { value = ${source}[(${at}) * ${tile.vectors}u + c]; }
    ${panel}[i] = value;
  }`;
}

/** Where row j of the block, and key u of all that the segment sees, lie. */
export const ROW_AND_KEY = `
var<private> start: u32;
var<private> rowsOfSegment: u32;
var<private> firstRow: u32;
var<private> prefix: u32;
var<private> prefixLength: u32;
fn rowToken(f: u32) -> u32 { return start + f / p.group; }
fn rowPlace(f: u32, kvHead: u32) -> u32 { return rowToken(f) * p.heads + kvHead * p.group + f % p.group; }
fn keyToken(u: u32) -> u32 { return select(start + u - prefixLength, prefix + u, u < prefixLength); }
fn isWhole() -> bool { return prefixLength > 0u && prefix == start; }
fn sees(f: u32, u: u32) -> bool {
  return f < rowsOfSegment && (u < prefixLength || (!isWhole() && u - prefixLength <= f / p.group));
}
fn openBlock(at: u32) {
  start = u32(blocks[at]);
  rowsOfSegment = u32(blocks[at + 1u]) * p.group;
  firstRow = u32(blocks[at + 2u]);
  prefix = u32(blocks[at + 3u]);
  prefixLength = u32(blocks[at + 4u]);
}`;

/** A workgroup's start: its block's queries in `qs`, this lane's row `f`, and how many keys the block sees (`total`). */
export const openRows = (tile: Tile): string => `
  let kvHead = wg.y;
  let entry = (wg.x + p.skip) * ${ROW_BLOCK}u;
  openBlock(entry);
  let row = lane / ${tile.team}u;
  let me = lane % ${tile.team}u;
  let f = firstRow + row;
  // From the table, not from the variables: those may differ between lanes, and barriers must not depend on them.
  let lastRow = min(u32(blocks[entry + 2u]) + ${tile.rows - 1}u, u32(blocks[entry + 1u]) * p.group - 1u);
  let prefixKeys = u32(blocks[entry + 4u]);
  // A segment that is its own prefix has no keys besides.
  let ownKeys = select(lastRow / p.group + 1u, 0u, prefixKeys > 0u && blocks[entry + 3u] == blocks[entry]);
  let total = prefixKeys + ownKeys;
${load('qs', 'q', tile.rows, tile, 'firstRow + j < rowsOfSegment', 'rowPlace(firstRow + j, kvHead)')}`;

export const dot4 = (a: string, b: string, tile: Tile): string => `
fn ${a}_${b}(i: u32, j: u32) -> f32 {
  var sum = vec4<f32>(0.0);
  for (var n = 0u; n < ${tile.vectors}u; n++) {
    let c = ${vectorOf('n', 'j', tile.vectors)};
    sum = fma(${a}[i * ${tile.vectors}u + c], ${b}[j * ${tile.vectors}u + c], sum);
  }
  return sum.x + sum.y + sum.z + sum.w;
}`;
