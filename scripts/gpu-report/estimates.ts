/**
 * What a GPU should reach, from what is counted: the bytes that a decoding step reads, and its dispatches. Estimates,
 * until the report has run on the GPU itself. `node scripts/gpu-report/estimates.ts` prints them.
 */

import type { WeightPrecision } from '../../main/tensor/weights.ts';
import { forwardOperations, SHAPES, type Shape, weightBytes } from '../../main/trainer/jobs/gpu-report/shapes.ts';

interface GpuModel {
  readonly name: string;
  /** Billions of bytes a second, by its data sheet. */
  readonly bandwidth: number;
  /** TFLOPS in float32 without matrix units, by its data sheet. */
  readonly peak: number;
}

const GPUS: readonly GpuModel[] = [
  { name: 'RTX 4090', bandwidth: 1008, peak: 82.6 },
  { name: 'M4 Max', bandwidth: 546, peak: 17 },
  { name: 'A40', bandwidth: 696, peak: 37.4 },
  { name: 'H200', bandwidth: 4800, peak: 67 },
];

const PRECISIONS = ['stored', 'int8', 'nf4'] as const satisfies readonly WeightPrecision[];

/** Completions that are decoded together, and the tokens that each has seen. */
const ROWS = 16;
const CONTEXT = 300;
/** Shares of the data sheet's figures that are assumed to be reached. */
const BANDWIDTH_SHARE = 0.6;
const PEAK_SHARE = 0.5;
/** Seconds of a dispatch, and of the read that ends a step. */
const DISPATCH = 4e-6;
const READ = 0.3e-3;

/** Dispatches of a decoding step under an adapter, with keys in several stretches: tests/tensor/webgpu/decode.test.ts. */
const stepDispatches = ({ config }: Shape): number => 10 * config.numLayers + 5;

/** Keys and values in 16 bits that a step reads, of all rows. */
function cacheRead({ config: { numLayers, numKvHeads, headDim } }: Shape): number {
  return 2 * 2 * ROWS * CONTEXT * numLayers * numKvHeads * headDim;
}

/** Tokens a second over all rows: rows / (bytes / (60% of bandwidth) + dispatches · 4 µs + 0.3 ms). */
function decoded(shape: Shape, gpu: GpuModel, precision: WeightPrecision): number {
  const bytes = weightBytes(shape, precision) + cacheRead(shape);
  return ROWS / (bytes / (BANDWIDTH_SHARE * gpu.bandwidth * 1e9) + DISPATCH * stepDispatches(shape) + READ);
}

/** Tokens a second: 50% of the peak / (forward, forward again by layer, and the gradient of the inputs). */
function trained(shape: Shape, { peak }: GpuModel): number {
  return (PEAK_SHARE * peak * 1e12) / (3 * forwardOperations(shape));
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);

function rounded(tokens: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(tokens)) - 1);
  return (Math.round(tokens / step) * step).toLocaleString('en-US');
}

/** The table as Markdown. */
export function estimateTable(): string {
  const head = ['shape', 'weights a step, GB', 'keys and values, GB', 'dispatches', ...GPUS.map(({ name }) => name)];
  const rows = SHAPES.filter(({ name }) => name !== 'tiny').map((shape) => [
    shape.name,
    PRECISIONS.map((precision) => gigabytes(weightBytes(shape, precision))).join(' / '),
    gigabytes(cacheRead(shape)),
    String(stepDispatches(shape)),
    ...GPUS.map((gpu) => {
      const tokens = PRECISIONS.map((precision) => rounded(decoded(shape, gpu, precision)));
      return `${tokens.join(' / ')}; ${rounded(trained(shape, gpu))}`;
    }),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n');
}

if (import.meta.main) process.stdout.write(`${estimateTable()}\n`);
