/** A merged model's tensors under llama.cpp's names, in its layout. */
import type { ModelConfig } from '../config.ts';
import type { MergedModel, MergedTensor } from '../merge.ts';
import { type GgufTensor, type GgufType, Q8_BLOCK } from './file.ts';

const LAYER_NAMES: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

const OUTER_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** All tensors; matrices are stored as `type`, norms and biases as float32. */
export function ggufTensors({ config, tensors }: MergedModel, type: GgufType): GgufTensor[] {
  const made = tensors.map((tensor): GgufTensor => {
    const { shape } = tensor;
    const heads = interleavedHeads(tensor.name, config);
    return {
      ...{ name: ggufName(tensor.name), shape },
      type: shape.length === 1 ? 'F32' : storedAs(type, shape),
      pieces: () => (heads === null ? tensor.pieces() : interleaveHalves(tensor, heads)),
    };
  });
  const factors = ropeFactors(config);
  if (factors === null) return made;
  return [...made, { name: 'rope_freqs.weight', shape: [factors.length], type: 'F32', pieces: () => [factors] }];
}

/** llama.cpp's name of a tensor. */
export function ggufName(name: string): string {
  const outer = OUTER_NAMES[name];
  if (outer !== undefined) return outer;
  const [, layer, module = '', kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const inner = LAYER_NAMES[module];
  if (inner === undefined) throw new Error(`Expected a tensor of a decoder, got ${name}`);
  return `blk.${layer}.${inner}.${kind}`;
}

/** Rows that aren't whole blocks can't be stored as Q8_0. */
function storedAs(type: GgufType, shape: readonly number[]): GgufType {
  return type === 'Q8_0' && (shape.at(-1) ?? 0) % Q8_BLOCK !== 0 ? 'F16' : type;
}

/**
 * How many heads a query or key projection has whose rows must be reordered: for Llama, llama.cpp rotates neighbouring
 * pairs, where Hugging Face's weights pair each number of a head's first half with one of its second.
 */
function interleavedHeads(name: string, { modelType, numHeads, numKvHeads }: ModelConfig): number | null {
  if (modelType !== 'llama') return null;
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
function ropeFactors({ ropeScaling, ropeTheta, headDim }: ModelConfig): Float32Array | null {
  if (ropeScaling === null) return null;
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositionEmbeddings: original } = ropeScaling;
  return Float32Array.from({ length: headDim / 2 }, (_, j) => {
    const wavelength = 2 * Math.PI * ropeTheta ** ((2 * j) / headDim);
    if (wavelength < original / highFreqFactor) return 1;
    if (wavelength > original / lowFreqFactor) return factor;
    const smooth = (original / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}
