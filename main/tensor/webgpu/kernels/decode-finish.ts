/**
 * What follows a decoding product in the same dispatch: the low-rank part, the sum of K's slices, bias, norm and residual
 * or SwiGLU, and what the next product needs of the result: its squares and its low-rank numbers, a part for each tile.
 *
 * The workgroup that comes last to a tile adds its slices up. WebGPU orders nothing between workgroups but what becomes
 * of one atomic word, so a word is its own sign: it holds a number once it isn't 0, and its reader makes it 0 again.
 */
import { range } from '../program.ts';
import { expDownOf } from './finite.ts';
import { TILES, UNIT_LANES } from './units-tile.ts';

/** Columns and lanes of a workgroup's tile: as many as the matrix units' tile for few rows has. */
export const COLUMNS = TILES['few rows'].columns;
export const LANES = UNIT_LANES;

/** Numbers read together: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

export interface FinishKey {
  /** Rows of a tile, a multiple of four. */
  readonly rows: number;
  /** Of the adapter, a multiple of four; 0: none. */
  readonly rank: number;
  readonly bias: boolean;
  readonly sliced: boolean;
  /** The result is divided by the root of the mean of its input's squares, which lie beside the input. */
  readonly normed: boolean;
  /** Residual: adds to x and leaves the next norm's numerator; start: takes the sum for x; swiglu: of gate and up. */
  readonly epilogue: 'store' | 'residual' | 'start' | 'swiglu';
  /** Whether an adapter follows that reads the result. */
  readonly next: boolean;
}

/**
 * Members of the uniform `p` that the statements below read besides m, k and skip. Places and widths count vectors of four,
 * but those of a plain result numbers.
 */
export const FINISH_PARAMETERS = [
  ...['slices', 'room', 'tickets', 'parts', 'low', 'lowLines', 'squares', 'scale:f32', 'eps:f32'],
  ...['b', 'bias', 'gain', 'a', 'width', 'state', 'normedAt', 'squaresOut', 'lowOut', 'lines'],
] as const;

/** Storage that they read and write, besides the product's `x`. */
export const finishBuffers = ({ rank, bias, sliced, epilogue, next }: FinishKey): Record<string, string> => ({
  ...((rank > 0 || bias || next || epilogue === 'residual' || epilogue === 'start') && { extra: 'vec4<f32>' }),
  ...(sliced && { sums: 'rw atomic<u32>' }),
  out: epilogue === 'store' ? 'rw f32' : 'rw vec4<f32>',
});

const lowVectors = ({ rank, epilogue }: FinishKey): number => ((epilogue === 'swiglu' ? 2 : 1) * rank) / 4;

/** Places for the lanes' shares of a sum. */
const sharesOf = ({ rows }: FinishKey): number => Math.max(LANES, rows * 16);

/** Numbers of workgroup memory. */
export function finishNumbers(key: FinishKey): number {
  return key.rows * (COLUMNS + 1 + 4 * lowVectors(key)) + sharesOf(key) + 4;
}

export const ATOMIC_SUMS = `
/** Zero would stand for no number. */
fn signOf(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits, 0x80000000u, bits == 0u);
}
fn publish(at: u32, x: f32) { atomicStore(&sums[at], signOf(x)); }
/** Their writers have come by before: the wait is for memory alone. */
fn take(at: u32, step: u32, count: u32) -> vec4<f32> {
  var bits = vec4<u32>(0u);
  let i = min(vec4(0u, 1u, 2u, 3u), vec4(count - 1u)) * step + at;
  while (any(bits == vec4(0u))) {
    bits = vec4(atomicLoad(&sums[i.x]), atomicLoad(&sums[i.y]), atomicLoad(&sums[i.z]), atomicLoad(&sums[i.w]));
  }
  return select(vec4<f32>(0.0), bitcast<vec4<f32>>(bits), vec4(0u, 1u, 2u, 3u) < vec4(count));
}`;

export function finishDeclarations(key: FinishKey): string {
  const { rows, rank, sliced, normed, epilogue, next } = key;
  return `
var<workgroup> sumsOfTile: array<f32, ${rows * COLUMNS}>;
${normed ? `var<workgroup> inverse: array<f32, ${rows}>;` : ''}
${normed || epilogue !== 'store' ? `var<workgroup> shares: array<f32, ${sharesOf(key)}>;` : ''}
${rank > 0 ? `var<workgroup> lowRank: array<vec4<f32>, ${rows * lowVectors(key)}>;` : ''}
${sliced ? `var<workgroup> ticket: u32;${ATOMIC_SUMS}` : ''}
${epilogue === 'swiglu' ? expDownOf('vec4<f32>') : ''}
fn ofTile(row: u32, vector: u32) -> vec4<f32> {
  let at = row * ${COLUMNS}u + 4u * vector;
  return vec4(sumsOfTile[at], sumsOfTile[at + 1u], sumsOfTile[at + 2u], sumsOfTile[at + 3u]);
}
${
  next
    ? `fn setTile(row: u32, vector: u32, value: vec4<f32>) {
  let at = row * ${COLUMNS}u + 4u * vector;
  ${range(4)
    .map((c) => `sumsOfTile[at + ${c}u] = value[${c}];`)
    .join(' ')}
}`
    : ''
}`;
}

/** Sums `term(i)` from `first` to before `end`, some at a time. */
const summed = (
  sum: string,
  zero: string,
  [first, end, step]: readonly [string, string, number],
  term: (i: string) => string,
): string => `
    for (var i = ${first}; i < ${end}; i += ${AT_A_TIME * step}u) {
${range(AT_A_TIME)
  .map((n) => `      let t${n} = ${term(`min(i + ${n * step}u, ${end} - 1u)`)};`)
  .join('\n')}
      ${sum} += t0${range(AT_A_TIME)
        .slice(1)
        .map((n) => ` + select(${zero}, t${n}, i + ${n * step}u < ${end})`)
        .join('')};
    }`;

/** The slice's share of the low-rank part: of some of the parts that the input's tiles left. */
function addLowRank(key: FinishKey): string {
  const { rows, rank, epilogue } = key;
  const vectors = lowVectors(key);
  const lines = epilogue === 'swiglu' ? '0u' : `matrix * ${rank / 4}u`;
  const half = COLUMNS / 2;
  const packed =
    epilogue === 'swiglu'
      ? `column / ${half}u * n + min(tile * ${half}u + column % ${half}u, n - 1u)`
      : `before + min(tile * ${COLUMNS}u + column, n - 1u)`;
  return `
  let firstPart = slice * p.parts / p.slices;
  let endPart = (slice + 1u) * p.parts / p.slices;
  for (var id = lane; id < ${rows * vectors}u; id += ${LANES}u) {
    let row = min(row0 + id / ${vectors}u, p.m - 1u);
    let line = ${lines} + id % ${vectors}u;
    var low = vec4<f32>(0.0);
${summed('low', 'vec4<f32>(0.0)', ['firstPart', 'endPart', 1], (i) => `x[p.low + (${i} * p.room + row) * p.lowLines + line]`)}
    lowRank[id] = p.scale * low;
  }
  workgroupBarrier();
  {
    let column = lane % ${COLUMNS}u;
    let b = p.b + (${packed}) * ${rank / 4}u;
    let part = ${epilogue === 'swiglu' ? `(column / ${half}u) * ${rank / 4}u` : '0u'};
    for (var j = 0u; j < ${rank / 4}u; j++) {
      let factor = extra[b + j];
      for (var row = lane / ${COLUMNS}u; row < ${rows}u; row += ${LANES / COLUMNS}u) {
        sumsOfTile[row * ${COLUMNS}u + column] += dot(lowRank[row * ${vectors}u + part + j], factor);
      }
    }
  }
  workgroupBarrier();`;
}

/** All but the last workgroup of a tile end here. */
const addSlices = ({ rows }: FinishKey): string => `
  let tileId = (wg.y + p.skip) * wgs.x + wg.x;
  let home = p.tickets + (tileId * p.slices) * ${rows * COLUMNS}u;
  for (var id = lane; id < ${rows * COLUMNS}u; id += ${LANES}u) {
    publish(home + slice * ${rows * COLUMNS}u + id, sumsOfTile[id]);
  }
  workgroupBarrier();
  if (lane == 0u) { ticket = atomicAdd(&sums[tileId], 1u); }
  if (workgroupUniformLoad(&ticket) + 1u < p.slices) { return; }
  if (lane == 0u) { atomicStore(&sums[tileId], 0u); }
  for (var id = lane; id < ${rows * COLUMNS}u; id += ${LANES}u) {
    var sum = 0.0;
    for (var s = 0u; s < p.slices; s += 4u) {
      let some = take(home + s * ${rows * COLUMNS}u + id, ${rows * COLUMNS}u, p.slices - s);
      sum += (some.x + some.y) + (some.z + some.w);
    }
    for (var s = 0u; s < p.slices; s++) { atomicStore(&sums[home + s * ${rows * COLUMNS}u + id], 0u); }
    sumsOfTile[id] = sum;
  }
  workgroupBarrier();`;

/** Rows share the lanes; the squares' vectors hold four rows each. */
function findInverse({ rows }: FinishKey): string {
  const share = LANES / rows;
  return `
  {
    let row = row0 + lane % ${rows}u;
    var squares = 0.0;
${summed('squares', '0.0', [`lane / ${rows}u`, 'p.parts', share], (i) => `x[p.squares + (${i} * p.room + row) / 4u][row % 4u]`)}
    shares[lane] = squares;
    workgroupBarrier();
    if (lane < ${rows}u) {
      var all = 0.0;
      for (var i = 0u; i < ${share}u; i++) { all += shares[i * ${rows}u + lane]; }
      inverse[lane] = inverseSqrt(all / f32(p.k) + p.eps);
    }
    workgroupBarrier();
  }`;
}

/** The tile's low-rank numbers of the next product: of `vectors` vectors a row. */
const leaveLowRank = ({ rows }: FinishKey, vectors: number, width: string): string => `
  workgroupBarrier();
  let vectors = min(${vectors}u, ${width} - tile * ${vectors}u);
  for (var id = lane; id < ${rows}u * p.lines; id += ${LANES}u) {
    let row = id / p.lines;
    let at = p.a + id % p.lines * 4u * ${width} + tile * ${vectors}u;
    var dots = vec4<f32>(0.0);
    for (var i = 0u; i < vectors; i++) {
      let y = ofTile(row, i);
      dots += vec4(${range(4)
        .map((c) => `dot(y, extra[at + ${c}u * ${width} + i])`)
        .join(', ')});
    }
    if (row0 + row < p.m) { out[p.lowOut + (tile * p.room + row0 + row) * p.lines + id % p.lines] = dots; }
  }`;

function storeResult({ rows, bias, normed }: FinishKey): string {
  return `
  for (var id = lane; id < ${rows * COLUMNS}u; id += ${LANES}u) {
    let row = row0 + id / ${COLUMNS}u;
    let column = tile * ${COLUMNS}u + id % ${COLUMNS}u;
    if (row < p.m && column < n) {
      out[p.state + row * p.width + before + column] = sumsOfTile[id]${normed ? ` * inverse[id / ${COLUMNS}u]` : ''}${bias ? ' + extra[p.bias + (before + column) / 4u][(before + column) % 4u]' : ''};
    }
  }`;
}

function addResidual(key: FinishKey): string {
  const { rows, bias, epilogue, next } = key;
  const vectors = COLUMNS / 4;
  return `
  for (var id = lane; id < ${rows * vectors}u; id += ${LANES}u) {
    let row = row0 + id / ${vectors}u;
    let column = tile * ${vectors}u + id % ${vectors}u;
    var normed = vec4<f32>(0.0);
    var square = 0.0;
    if (row < p.m && column < p.width) {
      let at = row * p.width + column;
      let y = ofTile(id / ${vectors}u, id % ${vectors}u)${bias ? ' + extra[p.bias + column]' : ''}${epilogue === 'residual' ? ' + out[p.state + at]' : ''};
      out[p.state + at] = y;
      normed = y * extra[p.gain + column];
      out[p.normedAt + at] = normed;
      square = dot(y, y);
    }
    shares[id] = square;
${next ? `    setTile(id / ${vectors}u, id % ${vectors}u, normed);` : ''}
  }
  workgroupBarrier();
  if (lane < ${rows / 4}u) {
    var squares = vec4<f32>(0.0);
    for (var i = 0u; i < ${vectors}u; i++) {
      squares += vec4(${range(4)
        .map((r) => `shares[(4u * lane + ${r}u) * ${vectors}u + i]`)
        .join(', ')});
    }
    out[p.squaresOut + (tile * p.room + row0) / 4u + lane] = squares;
  }
${next ? leaveLowRank(key, vectors, 'p.width') : ''}`;
}

function gateResult(key: FinishKey): string {
  const { rows, normed, next } = key;
  const vectors = COLUMNS / 8;
  return `
  for (var id = lane; id < ${rows * vectors}u; id += ${LANES}u) {
    let row = id / ${vectors}u;
    let column = tile * ${vectors}u + id % ${vectors}u;
    let gate = ofTile(row, id % ${vectors}u)${normed ? ' * inverse[row]' : ''};
    let up = ofTile(row, ${vectors}u + id % ${vectors}u)${normed ? ' * inverse[row]' : ''};
    var y = vec4<f32>(0.0);
    if (row0 + row < p.m && 4u * column < n) {
      y = gate / (1.0 + expDown(gate)) * up;
      out[p.state + (row0 + row) * (n / 4u) + column] = y;
    }
${next ? `    setTile(row, id % ${vectors}u, y);` : ''}
  }
${next ? leaveLowRank(key, vectors, '(n / 4u)') : ''}`;
}

/**
 * Statements that do all of it, once the tile's products lie in `sumsOfTile` and the workgroup has met at a barrier. They
 * know `row0`, `slice` and, of the tile, `matrix`, `tile`, `before` and `n` (side-by-side.ts).
 */
export function finishTile(key: FinishKey): string {
  const { rank, sliced, normed, epilogue } = key;
  const last = { store: storeResult, residual: addResidual, start: addResidual, swiglu: gateResult }[epilogue](key);
  return [rank > 0 ? addLowRank(key) : '', sliced ? addSlices(key) : '', normed ? findInverse(key) : '', last].join('');
}
