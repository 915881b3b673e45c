/**
 * Packed attention's products on a GPU's matrix units of float16, for runs that compute in bfloat16: each factor is
 * rounded to eleven bits, scaled so that the largest of its tensor is near the top of the range; sums are float32.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import type { MatrixUnit } from '../matrix-units.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, range, variants } from '../program.ts';
import {
  BLOCK,
  FOURS,
  type Products,
  RAISE,
  type Source,
  type Stored,
  scoreLine,
  scoreLines,
  type Weights,
} from './attention-tile.ts';
import { unitDirectives } from './product-units.ts';
import { MAXIMA, maximaProgram, POWER_OF_TWO } from './units-scale.ts';

const LANES = 128;

/** Vectors of four of a head that are multiplied at a time for scores. */
const DEPTH = 8;

/** Vectors from one line of scores to the next, and of factors, of which two are as long: eight lines ask all banks. */
const SCORES_STRIDE = FOURS + 1;
const strideOf = (vectors: number): number => vectors + 2;

/** How the units of a workgroup's subgroups are laid out: `down` times `across` of them at a time. */
interface Cut {
  readonly unit: MatrixUnit;
  readonly vectors: number;
  /** Lines of a tile that are in memory at a time where they are summed. */
  readonly lines: number;
  readonly down: number;
  readonly across: number;
}

function cutOf(headDim: number, unit: MatrixUnit): Cut {
  const down = BLOCK / unit.m;
  return {
    unit,
    vectors: headDim / 4,
    lines: headDim <= 128 ? BLOCK : BLOCK / 2,
    down,
    across: LANES / unit.lanes / down,
  };
}

const panelVectors = ({ lines, vectors }: Cut): number =>
  Math.max(2 * BLOCK * strideOf(DEPTH), lines * strideOf(vectors));

/** Bytes of workgroup memory that the programs take at most. */
const unitsBytes = (cut: Cut): number =>
  8 * (panelVectors(cut) + BLOCK * strideOf(FOURS)) + 16 * BLOCK * SCORES_STRIDE + 4 * (BLOCK * FOURS + 8 * BLOCK);

/** Whether a unit can multiply heads of so many numbers. */
export function takesHeads(unit: MatrixUnit, headDim: number, memory: number): boolean {
  const { m, n, k, lanes, element } = unit;
  const cut = cutOf(headDim, unit);
  const even = (all: number, part: number): boolean => part >= 1 && Number.isInteger(all / part);
  return (
    element === 'f16' &&
    headDim % (4 * DEPTH) === 0 &&
    even(4 * DEPTH, k) &&
    even(BLOCK, m) &&
    even(LANES, lanes * cut.down) &&
    even(BLOCK, n * cut.across) &&
    even(headDim, n * cut.across) &&
    unitsBytes(cut) <= memory
  );
}

/** Probabilities are e^RAISE at most: this brings them near 65,504, the top of the range. */
const PROBABILITIES = 2 ** Math.floor(Math.log2(65_504 / Math.exp(RAISE)));

/**
 * A score's gradient is at most twice the largest of a head's products of gradients and values: with both tensors' scales, 2^31
 * times the head's numbers.
 */
const gradientsScale = ({ vectors }: Cut): number => 2 ** -(16 + Math.ceil(Math.log2(4 * vectors)));

/** Reads a fragment of the panel or the weights: lines run along K, or, of transposed ones, K runs down the lines. */
function fragment(
  { element, m, n, k }: MatrixUnit,
  side: 'left' | 'right',
  order: 'row_major' | 'col_major',
  [array, at, stride]: readonly [array: string, at: string, stride: number],
): string {
  const size = side === 'left' ? `${k}, ${m}` : `${n}, ${k}`;
  return `subgroupMatrixLoad<subgroup_matrix_${side}<${element}, ${size}>, ${order}>(&${array}, ${at}, ${stride}u)`;
}

/** Fills lines of a panel with numbers of a tensor, rounded. */
const stage = (source: Source, count: number, perLine: number, base: string, from: string): string =>
  `      for (var i = lane; i < ${count}u; i += ${LANES}u) {
        let number = ${from} + i % ${perLine}u;
        panel[${base} + i / ${perLine}u * ${strideOf(perLine)}u + i % ${perLine}u] = vec4<f16>(${source}[number] * scale_${source});
      }`;

function scoresOf(cut: Cut, name: string, a: Source, b: Source): string {
  const { unit, vectors, across } = cut;
  const { m, n, k } = unit;
  const parts = range(BLOCK / n / across);
  const stride = strideOf(DEPTH);
  const from = (lines: 'own' | 'others'): string => `${lines}[i / ${DEPTH}u] * ${vectors}u + c0`;
  const column = (j: number): string => `(subgroup % ${across}u + ${j * across}u) * ${n}u`;
  const step = (at: number): string => `      {
        let l = ${fragment(unit, 'left', 'row_major', ['panel', `subgroup / ${across}u * ${m * stride}u + ${at / 4}u`, stride])};
${parts
  .map(
    (
      j,
    ) => `        let r${j} = ${fragment(unit, 'right', 'col_major', ['panel', `${BLOCK * stride}u + ${column(j)} * ${stride}u + ${at / 4}u`, stride])};
        ${name}_${j} = subgroupMatrixMultiplyAccumulate(l, r${j}, ${name}_${j});`,
  )
  .join('\n')}
      }`;
  return `
${parts.map((j) => `    var ${name}_${j} = subgroup_matrix_result<f32, ${n}, ${m}>();`).join('\n')}
    for (var c0 = 0u; c0 < ${vectors}u; c0 += ${DEPTH}u) {
      workgroupBarrier();
${stage(a, BLOCK * DEPTH, DEPTH, '0u', from('own'))}
${stage(b, BLOCK * DEPTH, DEPTH, `${BLOCK * stride}u`, from('others'))}
      workgroupBarrier();
${range((4 * DEPTH) / k)
  .map((i) => step(i * k))
  .join('\n')}
    }
${parts.map((j) => `    ${stored(cut, `${name}_${j}`, `(${column(j)}) / 4u`)}`).join('\n')}
    workgroupBarrier();
${scoreLines({ lanes: LANES })
  .map(
    (i) =>
      `    let ${name}${i} = scores[${scoreLine({ lanes: LANES }, i)} * ${SCORES_STRIDE}u + lane % ${FOURS}u] / scale_${a} / scale_${b};`,
  )
  .join('\n')}`;
}

/** Where a subgroup's lines of scores are, from this vector of a line on; the first of its own, one unit a subgroup. */
const inScores = ({ unit, across }: Cut, column: string): string =>
  `subgroup / ${across}u * ${unit.m * SCORES_STRIDE}u + ${column}`;
const ownColumn = ({ unit, across }: Cut): string => `subgroup % ${across}u * ${unit.n / 4}u`;

/** A subgroup's unit of numbers into its lines of scores. */
const stored = (cut: Cut, sum: string, column: string): string =>
  `subgroupMatrixStore<row_major>(&scores, ${inScores(cut, column)}, ${sum}, ${SCORES_STRIDE}u);`;

/** A result's sums: of all subgroups, the first are its first columns. */
const sumsOf = ({ unit, vectors, across }: Cut, result: string): string[] =>
  range((4 * vectors) / unit.n / across).map((c) => `${result}${c}`);

function addProducts(cut: Cut, result: string, source: Source): string {
  const { unit, vectors, lines, across } = cut;
  const { m, n, k } = unit;
  const stride = strideOf(vectors);
  const step = (at: number): string => `      {
        let l = ${fragment(unit, 'left', 'row_major', ['weights', `subgroup / ${across}u * ${m * strideOf(FOURS)}u + first / 4u + ${at / 4}u`, strideOf(FOURS)])};
${sumsOf(cut, result)
  .map(
    (
      sum,
      c,
    ) => `        let r${c} = ${fragment(unit, 'right', 'row_major', ['panel', `${at * stride}u + (subgroup % ${across}u + ${c * across}u) * ${n / 4}u`, stride])};
        ${sum} = subgroupMatrixMultiplyAccumulate(l, r${c}, ${sum});`,
  )
  .join('\n')}
      }`;
  return `
    for (var first = 0u; first < ${BLOCK}u; first += ${lines}u) {
      workgroupBarrier();
${stage(source, lines * vectors, vectors, '0u', `others[first + i / ${vectors}u] * ${vectors}u`)}
      workgroupBarrier();
${range(lines / k)
  .map((i) => step(i * k))
  .join('\n')}
    }`;
}

/** Statements for each of a result's sums: brought into scores, and `each` run for every vector of them there. */
function throughScores(
  cut: Cut,
  result: string,
  each: (sum: Stored) => string,
  after: (sum: string) => string,
): string {
  const { unit, across } = cut;
  const wide = (across * unit.n) / 4;
  const at = `line * ${SCORES_STRIDE}u + i % ${wide}u`;
  return sumsOf(cut, result)
    .map(
      (sum, c) => `    workgroupBarrier();
    ${stored(cut, sum, ownColumn(cut))}
    workgroupBarrier();
    for (var i = lane; i < ${BLOCK * wide}u; i += ${LANES}u) {
      let line = i / ${wide}u;
      ${each({ vector: `scores[${at}]`, line: 'line', column: `(${c * wide}u + i % ${wide}u)` })}
    }
    ${after(sum)}`,
    )
    .join('\n');
}

/** What takes the scales off a result of such weights. */
function unscaled(cut: Cut, kind: Weights, source: Source): string {
  const size = kind === 'probabilities' ? PROBABILITIES : gradientsScale(cut);
  return `${kind === 'gradients' ? ' / scale_v / scale_dy' : ''} / scale_${source} * ${1 / size}`;
}

export function unitProducts(headDim: number, unit: MatrixUnit): Products {
  const cut = cutOf(headDim, unit);
  const { m, n } = unit;
  const loaded = `subgroupMatrixLoad<subgroup_matrix_result<f32, ${n}, ${m}>, row_major>`;
  return {
    suffix: ' by units',
    directives: unitDirectives(unit),
    subgroup: unit.sized ? unit.lanes : null,
    lanes: LANES,
    vectors: cut.vectors,
    declarations: `
var<workgroup> panel: array<vec4<f16>, ${panelVectors(cut)}>;
var<workgroup> weights: array<vec4<f16>, ${BLOCK * strideOf(FOURS)}>;
var<workgroup> scores: array<vec4<f32>, ${BLOCK * SCORES_STRIDE}>;`,
    open: (scales) =>
      [
        `  let subgroup = lane / ${unit.lanes}u;`,
        ...Object.entries(scales).map(([source, scale]) => `  let scale_${source} = ${scale};`),
      ].join('\n'),
    declareSums: (result) =>
      sumsOf(cut, result)
        .map((sum) => `  var ${sum} = subgroup_matrix_result<f32, ${n}, ${m}>();`)
        .join('\n'),
    scoresOf: (name, a, b) => scoresOf(cut, name, a, b),
    keepWeights: (kind, four) => {
      const size = kind === 'probabilities' ? `${PROBABILITIES}.0` : `scale_v * scale_dy * ${gradientsScale(cut)}`;
      return scoreLines({ lanes: LANES })
        .map(
          (i) =>
            `    weights[${scoreLine({ lanes: LANES }, i)} * ${strideOf(FOURS)}u + lane % ${FOURS}u] = vec4<f16>(${four(i)} * ${size});`,
        )
        .join('\n');
    },
    addProducts: (result, source) => addProducts(cut, result, source),
    multiplySums: (result) =>
      throughScores(
        cut,
        result,
        ({ vector, line }) => `${vector} *= factors[${line}];`,
        (sum) => `workgroupBarrier();
    ${sum} = ${loaded}(&scores, ${inScores(cut, ownColumn(cut))}, ${SCORES_STRIDE}u);`,
      ),
    storeSums: (result, kind, source, statement) =>
      throughScores(
        cut,
        result,
        ({ vector, ...place }) => statement({ vector: `(${vector}${unscaled(cut, kind, source)})`, ...place }),
        () => '',
      ),
  };
}

const scalesProgram = variants(
  (count: number): Program =>
    program({
      name: 'PackedAttentionScales',
      parameters: ['at'],
      buffers: {
        ...Object.fromEntries(range(count).map((i) => [`maxima${i}`, 'f32'])),
        scales: 'rw f32',
      },
      workgroup: MAXIMA,
      declarations: `var<workgroup> largest: array<f32, ${count * MAXIMA}>;`,
      main: `${range(count)
        .map((n) => `  largest[${n * MAXIMA}u + lane] = maxima${n}[lane];`)
        .join('\n')}
  workgroupBarrier();
  if (lane >= ${count}u) { return; }
  var most = 0.0;
  for (var i = 0u; i < ${MAXIMA}u; i++) { most = max(most, largest[lane * ${MAXIMA}u + i]); }
  scales[p.at + lane] = ${POWER_OF_TWO};`,
    }),
);

/** Finds the scales of tensors and writes them into `target` from its number `at` on. */
export function findScales(
  backend: WebGpuBackend,
  tensors: readonly TensorInfo[],
  target: TensorInfo,
  at: number,
): void {
  const { gpu } = backend;
  const maxima = tensors.map(() => gpu.take(4 * MAXIMA));
  tensors.forEach((tensor, i) => {
    const vectors = tensor.shape.reduce((product, size) => product * size, 1) / 4;
    gpu.run(maximaProgram, [backend.buffer(tensor), maxima[i] as GpuBuffer], [vectors], MAXIMA);
  });
  gpu.run(scalesProgram(tensors.length), [...maxima, backend.buffer(target)], [at], 1);
  for (const buffer of maxima) gpu.give(buffer);
}
