/** How a tensor of a model stands in a GGUF file: under which names, in which shape and order, and as which numbers. */
import type { ModelConfig } from '../config.ts';
import { type GgufArchitecture, ggufNames } from './architectures.ts';

/** Groups of `width` numbers change places: group i in the file is group `from[i]` in the model, block after block. */
interface Order {
  readonly width: number;
  readonly from: readonly number[];
}

export interface TensorLayout {
  /** The rows are divided between them. */
  readonly names: readonly string[];
  /** Of each. */
  readonly shape: readonly number[];
  /** So many rows go together. */
  readonly unit: number;
  /** Numbers of the model as those of the file, and back: pieces of whole units. */
  toFile(piece: Float32Array): Float32Array;
  fromFile(piece: Float32Array): Float32Array;
}

export function layoutOf(
  name: string,
  shape: readonly number[],
  config: ModelConfig,
  architecture: GgufArchitecture,
): TensorLayout {
  const names = ggufNames(name, architecture);
  const [rows = 1, ...rest] = shape;
  const width = rest.reduce((a, b) => a * b, 1);
  const order = orderOf(name, rows, width, config, architecture);
  const values = valuesOf(name, config);
  // A convolution's kernel is a matrix, and so are a Mamba head's numbers; its norm has a row for each group of heads.
  const tall = /\.mamba\.(A_log|D)$/.test(name) ? [rows, 1] : null;
  const groups = config.recurrent?.mixer === 'mamba' ? config.recurrent.groups : 1;
  const flat = name.endsWith('.mamba.norm.weight') ? [groups, rows / groups] : null;
  return {
    names,
    shape: tall ?? flat ?? [rows / names.length, ...rest.slice(-1)],
    unit: order === null ? 1 : Math.max(1, (order.width * order.from.length) / width),
    toFile: (piece) => values.toFile(order === null ? piece : reorder(piece, order, false)),
    fromFile: (piece) => values.fromFile(order === null ? piece : reorder(piece, order, true)),
  };
}

function reorder(piece: Float32Array, { width, from }: Order, back: boolean): Float32Array {
  const out = new Float32Array(piece.length);
  for (let start = 0; start < piece.length; start += width * from.length)
    for (const [at, source] of from.entries()) {
      const [there, here] = [start + at * width, start + source * width];
      const [to, first] = back ? [here, there] : [there, here];
      out.set(piece.subarray(first, first + width), to);
    }
  return out;
}

function orderOf(
  name: string,
  rows: number,
  width: number,
  config: ModelConfig,
  { interleaved }: GgufArchitecture,
): Order | null {
  const heads = name.includes('.q_proj.') ? config.numHeads : name.includes('.k_proj.') ? config.numKvHeads : null;
  if (interleaved && heads !== null) return { width, from: neighbours(rows / heads) };
  return name.includes('.linear_attn.') ? valueHeadOrder(name, rows, width, config) : null;
}

/** Rows 0, d/2, 1, d/2 + 1 … of a head. */
function neighbours(each: number): number[] {
  return Array.from({ length: each }, (_, row) => (row % 2 === 0 ? row / 2 : (each + row - 1) / 2));
}

/** Value heads that share a key head are neighbours in the model; in llama.cpp each key head's first ones come first. */
function valueHeadOrder(name: string, rows: number, width: number, { recurrent }: ModelConfig): Order | null {
  if (recurrent?.mixer !== 'gated-delta' || recurrent.keyHeads === recurrent.valueHeads) return null;
  const { keyHeads, keyDim, valueHeads, valueDim } = recurrent;
  const each = valueHeads / keyHeads;
  const heads = Array.from({ length: valueHeads }, (_, i) => (i % keyHeads) * each + Math.floor(i / keyHeads));
  if (name.includes('.norm.')) return null;
  if (name.includes('.out_proj.')) return { width: valueDim, from: heads };
  if (!/\.(in_proj_qkv|conv1d)\./.test(name)) return { width: (rows * width) / valueHeads, from: heads };
  // Queries and keys stay where they are.
  const first = 2 * keyHeads * keyDim;
  const values = heads.flatMap((head) => Array.from({ length: valueDim }, (_, i) => first + head * valueDim + i));
  return { width, from: [...Array(first).keys(), ...values] };
}

type Values = Pick<TensorLayout, 'toFile' | 'fromFile'>;
const SAME: Values = { toFile: (piece) => piece, fromFile: (piece) => piece };
/** Norms multiply by the weight alone in llama.cpp. */
const PLUS_ONE: Values = {
  toFile: (piece) => piece.map((weight) => weight + 1),
  fromFile: (piece) => piece.map((weight) => weight - 1),
};
const DECAY: Values = {
  toFile: (piece) => piece.map((weight) => -Math.exp(weight)),
  fromFile: (piece) => piece.map((weight) => Math.log(-weight)),
};

function valuesOf(name: string, { unitOffset }: ModelConfig): Values {
  if (name.endsWith('.A_log')) return DECAY;
  return unitOffset && name.endsWith('norm.weight') && !name.includes('.linear_attn.') ? PLUS_ONE : SAME;
}
