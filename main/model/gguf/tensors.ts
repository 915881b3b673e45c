/** A merged model's tensors under llama.cpp's names, in its layout. */
import type { ModelConfig } from '../config.ts';
import type { MergedModel, MergedTensor } from '../merge.ts';
import { type GgufArchitecture, ggufArchitecture } from './architectures.ts';
import { type GgufTensor, type GgufType, Q8_BLOCK } from './file.ts';

const OUTER_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** All tensors; matrices are stored as `type`, norms and biases as float32. */
export function ggufTensors({ config, tensors }: MergedModel, type: GgufType): GgufTensor[] {
  const architecture = ggufArchitecture(config);
  const made = tensors.map((tensor): GgufTensor => {
    const { name, shape } = tensor;
    const heads = architecture.interleaved ? headsOf(name, config) : null;
    const offset = config.unitOffset && name.endsWith('norm.weight');
    const plain = offset ? () => plusOne(tensor) : () => tensor.pieces();
    return {
      name: ggufName(name, architecture),
      shape,
      type: shape.length === 1 ? 'F32' : storedAs(type, shape),
      pieces: heads === null ? plain : () => interleaveHalves(tensor, heads),
    };
  });
  return [...made, ...ropeTensors(config)];
}

/** Norms multiply by the weight alone in llama.cpp. */
function* plusOne({ pieces }: MergedTensor): Generator<Float32Array> {
  for (const piece of pieces()) yield piece.map((weight) => weight + 1);
}

/** Divisors of RoPE's frequencies, where the model scales them. */
function ropeTensors(config: ModelConfig): GgufTensor[] {
  const tensor = (name: string, factors: Float32Array): GgufTensor => ({
    name,
    shape: [factors.length],
    type: 'F32',
    pieces: () => [factors],
  });
  const { longRope } = config;
  if (longRope !== null)
    return [
      tensor('rope_factors_long.weight', Float32Array.from(longRope.longFactors)),
      tensor('rope_factors_short.weight', Float32Array.from(longRope.factors)),
    ];
  const factors = ropeFactors(config);
  return factors === null ? [] : [tensor('rope_freqs.weight', factors)];
}

/** llama.cpp's name of a tensor. */
export function ggufName(name: string, { layerNames }: GgufArchitecture): string {
  const outer = OUTER_NAMES[name];
  if (outer !== undefined) return outer;
  const [, layer, module = '', kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const inner = layerNames[module];
  if (inner === undefined) throw new Error(`Expected a tensor of a decoder, got ${name}`);
  return `blk.${layer}.${inner}.${kind}`;
}

/** Rows that aren't whole blocks can't be stored as Q8_0. */
function storedAs(type: GgufType, shape: readonly number[]): GgufType {
  return type === 'Q8_0' && (shape.at(-1) ?? 0) % Q8_BLOCK !== 0 ? 'F16' : type;
}

/** How many heads a query or key projection has, whose rows must be reordered where llama.cpp rotates neighbours. */
export function headsOf(name: string, { numHeads, numKvHeads }: ModelConfig): number | null {
  if (name.includes('.q_proj.')) return numHeads;
  return name.includes('.k_proj.') ? numKvHeads : null;
}

/** Each head's rows 0, d/2, 1, d/2 + 1 …: [heads · d, in], head by head. */
function* interleaveHalves({ shape, pieces }: MergedTensor, heads: number): Generator<Float32Array> {
  const [rows = 0, width = 1] = shape;
  const each = rows / heads;
  const half = each / 2;
  for (const piece of pieces(each)) {
    const out = new Float32Array(piece.length);
    for (let row = 0; row < piece.length / width; row++) {
      const [head, at] = [Math.floor(row / each), row % each];
      const to = head * each + (at < half ? 2 * at : 2 * (at - half) + 1);
      out.set(piece.subarray(row * width, (row + 1) * width), to * width);
    }
    yield out;
  }
}

/** Llama 3's scaling of RoPE as a divisor of each frequency, [d/2]; null without scaling. */
export function ropeFactors({
  ropeScaling,
  ropeTheta,
  headDim,
}: Pick<ModelConfig, 'ropeScaling' | 'ropeTheta' | 'headDim'>): Float32Array | null {
  if (ropeScaling?.type !== 'llama3') return null;
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositionEmbeddings: original } = ropeScaling;
  return Float32Array.from({ length: headDim / 2 }, (_, j) => {
    const wavelength = 2 * Math.PI * ropeTheta ** ((2 * j) / headDim);
    if (wavelength < original / highFreqFactor) return 1;
    if (wavelength > original / lowFreqFactor) return factor;
    const smooth = (original / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}
