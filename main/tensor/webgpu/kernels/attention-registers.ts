/**
 * Packed attention's products in registers: a number that a lane reads from workgroup memory is used for several of its
 * results, as the memory gives each lane far fewer numbers than it multiplies.
 */
import { headsTooLarge } from '../faults.ts';
import { range } from '../program.ts';
import { BLOCK, FOURS, type Products, type Source, type Stored, scoreLine, scoreLines } from './attention-tile.ts';

/** How a head is cut up. */
interface Cut {
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
const panelOf = (depth: number): number => 2 * 4 * depth * FOURS;

export function cutOf(headDim: number, results: number): Cut {
  if (headDim % 4 !== 0) throw new Error(`Expected a head_dim of a multiple of 4, got ${headDim}`);
  const vectors = headDim / 4;
  const wanted = 2 ** Math.ceil(Math.log2((results * BLOCK * vectors) / MOST_SUMS));
  return {
    vectors,
    depth: Math.ceil(vectors / Math.ceil(vectors / FOURS)),
    lines: Math.min(BLOCK, Math.max(4, 2 ** Math.floor(Math.log2(panelOf(FOURS) / vectors)))),
    lanes: Math.min(256, Math.max(64, wanted)),
    across: vectors < 16 ? 8 : 16,
  };
}

const panelVectors = ({ depth, lines, vectors }: Cut): number => Math.max(panelOf(depth), lines * vectors);

/** Vectors from one line of weights to the next: odd, so that lanes with lines beside each other use other banks. */
const STRIDE = FOURS + 1;

/** What the programs have in workgroup memory besides, at most. */
const OTHERS = 4 * (BLOCK * FOURS + 4 * BLOCK + 4);

/** Bytes of workgroup memory that the programs take at most. */
export const registersBytes = (cut: Cut): number => 16 * (panelVectors(cut) + BLOCK * STRIDE) + 4 * 2 * BLOCK + OTHERS;

/**
 * Where a vector of four lines lies in its panel: by the number of the head that it is of, then by its place among the
 * lines. Lanes that write vectors of numbers four apart write to other banks; so do those that read lines side by side.
 */
export const placeInPanel = (number: string, fours: string): string =>
  `(${number}) * ${FOURS}u + ((${fours}) ^ ((${number}) / 4u % ${FOURS}u))`;

/** Four lines of a tensor by four of their numbers, transposed into the panel from `base` on: a piece a lane. */
function stage({ vectors, depth, lanes }: Cut, source: Source, lines: 'own' | 'others', base: number): string {
  const pieces = FOURS * depth;
  // The last lanes have the others' lines, so that both panels are filled at once where there are enough lanes.
  const [mine, piece] =
    lines === 'own' ? [`lane < ${pieces}u`, 'lane'] : [`lane >= ${lanes - pieces}u`, `(lane - ${lanes - pieces}u)`];
  const value = (n: number): string => {
    const read = `${source}[${lines}[fours * 4u + ${n}u] * ${vectors}u + c0 + c]`;
    return vectors % depth === 0 ? read : `select(vec4<f32>(0.0), ${read}, c0 + c < ${vectors}u)`;
  };
  return `      if (${mine}) {
        let fours = ${piece} / ${depth}u;
        let c = ${piece} % ${depth}u;
${range(4)
  .map((n) => `        let x${n} = ${value(n)};`)
  .join('\n')}
${[...'xyzw']
  .map((part, n) => {
    const place = placeInPanel(`4u * c + ${n}u`, 'fours');
    return `        panel[${base}u + ${place}] = vec4(x0.${part}, x1.${part}, x2.${part}, x3.${part});`;
  })
  .join('\n')}
      }`;
}

function scoresOf(cut: Cut, name: string, a: Source, b: Source): string {
  const { vectors, depth } = cut;
  const rows = scoreLines(cut);
  const first = panelOf(depth) / 2;
  const left = (n: number): string => `panel[${placeInPanel(`k + ${n}u`, `lane / ${FOURS}u * ${rows.length}u / 4u`)}]`;
  // All four of a vector, or the lane's of them.
  const mine = (i: number, n: number): string =>
    rows.length === 4 ? `a${n}.${'xyzw'[i]}` : `${left(n)}[${scoreLine(cut, i)} % 4u]`;
  const four = range(4);
  return `
${rows.map((i) => `    var ${name}${i} = vec4<f32>(0.0);`).join('\n')}
    for (var c0 = 0u; c0 < ${vectors}u; c0 += ${depth}u) {
      workgroupBarrier();
${stage(cut, a, 'own', 0)}
${stage(cut, b, 'others', first)}
      workgroupBarrier();
      for (var k = 0u; k < ${4 * depth}u; k += 4u) {
${four.map((n) => `        let b${n} = panel[${first}u + ${placeInPanel(`k + ${n}u`, `lane % ${FOURS}u`)}];`).join('\n')}
${rows.length === 4 ? four.map((n) => `        let a${n} = ${left(n)};`).join('\n') : ''}
${
  // Four at a time by themselves: one long chain of sums would round more.
  rows
    .map((i) => {
      const sum = four
        .slice(1)
        .reduce((before, n) => `fma(vec4(${mine(i, n)}), b${n}, ${before})`, `${mine(i, 0)} * b0`);
      return `        ${name}${i} += ${sum};`;
    })
    .join('\n')
}
      }
    }`;
}

/** Lines of the block, and columns, whose sums a lane has. */
const sumLines = ({ lanes, across }: Cut): number[] => range((BLOCK * across) / lanes);
const sumColumns = ({ vectors, across }: Cut): number[] => range(Math.ceil(vectors / across));

function sumsOf(cut: Cut, result: string): Stored[] {
  const { across } = cut;
  const rows = sumLines(cut);
  return rows.flatMap((r) =>
    sumColumns(cut).map((c) => ({
      vector: `${result}${r}_${c}`,
      line: `(lane / ${across}u * ${rows.length}u + ${r}u)`,
      column: `(lane % ${across}u + ${across * c}u)`,
    })),
  );
}

function addProducts(cut: Cut, result: string, source: Source): string {
  const { vectors, lines, lanes, across } = cut;
  const columns = sumColumns(cut);
  const rows = sumLines(cut);
  const column = (c: number): string => {
    const at = `lane % ${across}u + ${across * c}u`;
    return vectors % across === 0 ? at : `min(${at}, ${vectors - 1}u)`;
  };
  const products = (r: number): string =>
    columns
      .flatMap((c) =>
        [...'xyzw'].map((part, n) => {
          const sum = `${result}${r}_${c}`;
          return `          ${sum} = fma(vec4(four.${part}), y${n}_${c}, ${sum});`;
        }),
      )
      .join('\n');
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
  .map(
    (r) => `        {
          let four = weights[(lane / ${across}u * ${rows.length}u + ${r}u) * ${STRIDE}u + (first + j) / 4u];
${products(r)}
        }`,
  )
  .join('\n')}
      }
    }`;
}

/** For a program with so many results a line. Throws a BraidError where a line of a head is too long for the memory. */
export function registerProducts(headDim: number, results: number, memory: number): Products {
  const cut = cutOf(headDim, results);
  if (registersBytes(cut) > memory) throw headsTooLarge(`heads of ${headDim}`, memory);
  const { vectors, lanes, across } = cut;
  const forSums = (result: string, statement: (sum: Stored) => string): string =>
    sumsOf(cut, result)
      .map((sum) => `    ${statement(sum)}`)
      .join('\n');
  return {
    ...{ suffix: '', directives: [], subgroup: null, lanes, vectors },
    declarations: `
var<workgroup> panel: array<vec4<f32>, ${panelVectors(cut)}>;
var<workgroup> weights: array<vec4<f32>, ${BLOCK * STRIDE}>;`,
    open: () => '',
    declareSums: (result) => forSums(result, ({ vector }) => `var ${vector} = vec4<f32>(0.0);`),
    scoresOf: (name, a, b) => scoresOf(cut, name, a, b),
    keepWeights: (_, four) =>
      scoreLines(cut)
        .map((i) => `    weights[${scoreLine(cut, i)} * ${STRIDE}u + lane % ${FOURS}u] = ${four(i)};`)
        .join('\n'),
    addProducts: (result, source) => addProducts(cut, result, source),
    multiplySums: (result) => forSums(result, ({ vector, line }) => `${vector} *= factors[${line}];`),
    storeSums: (result, _, __, statement) =>
      forSums(result, (sum) => {
        const inside = vectors % across === 0 ? '' : `if (${sum.column} < ${vectors}u) `;
        return `${inside}{ ${statement(sum)} }`;
      }),
  };
}
