/** A merged model's tensors under llama.cpp's names, in its layout. */
import type { ModelConfig } from '../config.ts';
import type { MergedModel, MergedTensor } from '../merge.ts';
import { ggufArchitecture } from './architectures.ts';
import { type GgufTensor, type GgufType, Q8_BLOCK } from './file.ts';
import { layoutOf, type TensorLayout } from './layout.ts';

/** All tensors; matrices are stored as `type`, norms, biases and convolutions as float32. */
export function ggufTensors({ config, tensors }: MergedModel, type: GgufType): GgufTensor[] {
  const architecture = ggufArchitecture(config);
  const made = tensors.flatMap((tensor): GgufTensor[] => {
    const layout = layoutOf(tensor.name, tensor.shape, config, architecture);
    const { names, shape } = layout;
    const isMatrix = tensor.shape.length === 2;
    return names.map((name, part) => ({
      name,
      shape,
      type: isMatrix ? storedAs(type, shape) : 'F32',
      pieces: () => piecesOf(tensor, layout, part),
    }));
  });
  return [...made, ...ropeTensors(config)];
}

/** A part of a tensor, as the file has it. */
function* piecesOf(tensor: MergedTensor, layout: TensorLayout, part: number): Generator<Float32Array> {
  const size = layout.shape.reduce((a, b) => a * b, 1);
  const [first, end] = [part * size, (part + 1) * size];
  let at = 0;
  for (const piece of tensor.pieces(layout.unit)) {
    const own = piece.subarray(Math.max(0, first - at), Math.max(0, end - at));
    at += piece.length;
    if (own.length > 0) yield layout.toFile(own);
  }
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

/** Rows that aren't whole blocks can't be stored as Q8_0. */
function storedAs(type: GgufType, shape: readonly number[]): GgufType {
  return type === 'Q8_0' && (shape.at(-1) ?? 0) % Q8_BLOCK !== 0 ? 'F16' : type;
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
