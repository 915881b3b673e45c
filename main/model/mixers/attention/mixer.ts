/** Attention, over all tokens before or those of a window. N tokens, H query heads, K key/value heads, d head_dim. */
import * as tf from '@tensorflow/tfjs-core';
import type { DecodeLinear } from '../../../tensor/ops/decode-kernels.ts';
import type { DecodeList } from '../../../tensor/ops/decode-list.ts';
import type { DecodeMixer } from '../../../tensor/ops/decode-step.ts';
import { rmsNorm } from '../../../tensor/ops/rms-norm.ts';
import { type RopeTables, rope } from '../../../tensor/ops/rope.ts';
import { sigmoidGate } from '../../../tensor/ops/sigmoid-gate.ts';
import type { ModelConfig } from '../../config.ts';
import { type Linear, linear, project } from '../../linear.ts';
import { namesOf } from '../../names.ts';
import { norm } from '../../norm.ts';
import type { Parameter } from '../../parameter.ts';
import type { KeysValues, Mixer, MixerKind, Pass, Step } from '../mixer.ts';

export interface Attention extends Mixer {
  /** q, k and v, or all three in one, one after the other; q and k, or q alone, where the others are the same or elsewhere. */
  readonly qkv: readonly Linear[];
  readonly o: Linear;
  /** What gives each head a gate. */
  readonly gate: Linear | null;
  readonly qNorm: Parameter<tf.Tensor1D> | null;
  readonly kNorm: Parameter<tf.Tensor1D> | null;
}

const HEAD_GATE = 'self_attn.g_proj';

/** Columns of q, k and v; those of q with its values' gates where it has them. */
function qkvWidths({ headDim, numHeads, numKvHeads, outputGate }: ModelConfig): readonly [number, number, number] {
  return [(outputGate === 'values' ? 2 : 1) * numHeads * headDim, numKvHeads * headDim, numKvHeads * headDim];
}

/** The projections' names, which are one matrix in Phi-3, and their widths. */
function projections(config: ModelConfig): readonly (readonly [name: string, width: number])[] {
  const [q, k, v] = qkvWidths(config);
  if (config.fusedProjections) return [['self_attn.qkv_proj', q + k + v]];
  const all = [
    ['self_attn.q_proj', q],
    ['self_attn.k_proj', k],
    ['self_attn.v_proj', v],
  ] as const;
  if (config.keysOf !== null) return all.slice(0, 1);
  return config.keysAreValues ? all.slice(0, 2) : all;
}

function shapes(config: ModelConfig): (readonly [string, readonly number[]])[] {
  const { hiddenSize: d, headDim, numHeads, numKvHeads } = config;
  const names = namesOf(config);
  const qkv = projections(config);
  const found: (readonly [string, readonly number[]])[] = qkv.map(([name, width]) => [`${name}.weight`, [width, d]]);
  found.push([`${names.o}.weight`, [d, numHeads * headDim]]);
  if (config.outputGate === 'heads') found.push([`${HEAD_GATE}.weight`, [numHeads, d]]);
  if (config.attentionBias) {
    for (const [name, width] of qkv) found.push([`${name}.bias`, [width]]);
    // Llama's attention_bias puts one on the output too, Qwen2 doesn't.
    if (config.modelType !== 'qwen2') found.push([`${names.o}.bias`, [d]]);
  }
  if (config.qkNorm) {
    const each = config.qkNormOver === 'head';
    found.push([`${names.qNorm}.weight`, [each ? headDim : numHeads * headDim]]);
    if (config.keysOf === null) found.push([`${names.kNorm}.weight`, [each ? headDim : numKvHeads * headDim]]);
  }
  return found;
}

/** The norm of q or k before RoPE, over each head or all of them. */
function headNorm(
  x: tf.Tensor2D,
  weight: Parameter<tf.Tensor1D> | null,
  { config, sequences: { factors } }: Pass,
): tf.Tensor2D {
  if (weight === null || config.qkNormOver === 'heads') return norm(x, weight, config, factors);
  const [n, width] = x.shape;
  const { headDim } = config;
  return tf.reshape(norm(tf.reshape(x, [(n * width) / headDim, headDim]), weight, config, factors), [n, width]);
}

/** A layer's tables; null: it has no RoPE. */
function ropeTables({
  config,
  rope: { main, local },
  layer,
}: Pick<Pass, 'config' | 'rope' | 'layer'>): RopeTables | null {
  if (config.noRopeLayers.includes(layer)) return null;
  return local !== null && config.windowLayers.includes(layer) ? local : main;
}

/** RoPE on the rotated dimensions of each head, the rest as it is. x [N, h*d] → same. */
function rotate(
  x: tf.Tensor2D,
  positions: tf.Tensor1D,
  tables: RopeTables | null,
  { headDim, rotaryDim }: ModelConfig,
): tf.Tensor2D {
  if (tables === null) return x;
  if (rotaryDim === null) return rope(x, positions, tables, headDim);
  const [n, width] = x.shape;
  const rows = (n * width) / headDim;
  const [first, rest] = tf.split(tf.reshape(x, [rows, headDim]), [rotaryDim, headDim - rotaryDim], 1);
  const flat = tf.reshape<tf.Rank.R2>(first as tf.Tensor, [n, (width / headDim) * rotaryDim]);
  const rotated = tf.reshape(rope(flat, positions, tables, rotaryDim), [rows, rotaryDim]);
  return tf.reshape(tf.concat([rotated, rest as tf.Tensor], 1), [n, width]);
}

/** Queries and the gates of their heads' outputs: one head's after the other's. x [N, H*2d] → [N, H*d] each */
function withoutGate(x: tf.Tensor2D, { headDim, numHeads }: ModelConfig): readonly [tf.Tensor2D, tf.Tensor2D] {
  const [n] = x.shape;
  const both = tf.split(tf.reshape(x, [n * numHeads, 2 * headDim]), 2, 1);
  const [queries, gate] = both.map((part) => tf.reshape<tf.Rank.R2>(part, [n, numHeads * headDim]));
  return [queries as tf.Tensor2D, gate as tf.Tensor2D];
}

/** Values times the sigmoid of their head's gate. gates [N, H], values [N, H*d] → [N, H*d] */
function gatedHeads(gates: tf.Tensor2D, values: tf.Tensor2D): tf.Tensor2D {
  const [n, heads] = gates.shape;
  const [, width] = values.shape;
  const each = tf.reshape(values, [n * heads, width / heads]);
  return tf.reshape(tf.mul(each, tf.reshape(tf.sigmoid(gates), [n * heads, 1])), [n, width]);
}

/** The norm of values, which has no weight. */
function valueNorm(v: tf.Tensor2D, { valueNorm, headDim, rmsNormEps }: ModelConfig): tf.Tensor2D {
  if (!valueNorm) return v;
  const [n, width] = v.shape;
  const heads = tf.reshape<tf.Rank.R2>(v, [(n * width) / headDim, headDim]);
  return tf.reshape(rmsNorm(heads, tf.ones([headDim]), rmsNormEps), [n, width]);
}

function run(layer: Omit<Attention, 'run' | 'step'>, x: tf.Tensor2D, pass: Pass): tf.Tensor2D {
  const { config, positions, adapter } = pass;
  const widths = qkvWidths(config).slice(0, config.keysOf === null ? 3 : 1);
  const projected = project(x, layer.qkv, widths, adapter);
  const [wide, k, v = k] = projected as [tf.Tensor2D, tf.Tensor2D?, tf.Tensor2D?];
  const [q, gates] = config.outputGate === 'values' ? withoutGate(wide, config) : [wide, null];
  const tables = ropeTables(pass);
  const rotated = (t: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null, by: RopeTables | null): tf.Tensor2D =>
    rotate(headNorm(t, weight, pass), positions, by, config);
  const queries = rotated(q, layer.qNorm, pass.rope.queries ?? tables);
  const own = (): KeysValues => [rotated(k as tf.Tensor2D, layer.kNorm, tables), valueNorm(v as tf.Tensor2D, config)];
  const [keys, values] = pass.given ?? own();
  if (pass.given === null) pass.onKeysValues?.([keys, values]);
  const attended = pass.sequences.attend(config.keysOf ?? pass.layer, queries, keys, values, pass.given !== null);
  const byValue = gates === null ? attended : sigmoidGate(gates, attended);
  const gated = layer.gate === null ? byValue : gatedHeads(linear(x, layer.gate, adapter), byValue);
  return linear(gated, layer.o, adapter); // [N, D]
}

/** Null where heads aren't each layer's own, normed each by itself, rotated by one table and gated by value. */
function step({ qkv, o, gate, qNorm, kNorm }: Omit<Attention, 'run' | 'step'>, given: Step): DecodeMixer | null {
  const { config, place } = given;
  const { headDim, numHeads, numKvHeads } = config;
  const isGated = config.outputGate === 'values';
  if (gate !== null || config.keysOf !== null || config.valueNorm || given.rope.queries !== null || qkv.length !== 3)
    return null;
  if (config.qkNorm && config.qkNormOver === 'heads') return null;
  const [q, k, v] = qkv.map(given.linear) as [DecodeLinear, DecodeLinear, DecodeLinear];
  const out = given.linear(o);
  const tables = ropeTables(given);
  const norms = { qNorm: qNorm && given.factor(qNorm), kNorm: kNorm && given.factor(kNorm) };
  const isPlain = !isGated && tables === given.rope.main && config.rotaryDim === null;
  const [queries, keys] = [numHeads * headDim, numKvHeads * headDim];
  return {
    linears: [q, k, v, out],
    plain: isPlain ? { q, k, v, o: out, ...norms } : null,
    record: <Buffer>(list: DecodeList<Buffer>, h: Buffer, change: Buffer): void => {
      const room = { q: list.room(queries), k: list.room(keys), v: list.room(keys), attended: list.room(queries) };
      // Of each head the queries and their gate.
      const both = isGated ? list.room(2 * queries) : room.q;
      const half = (first: number) => ({ of: both, line: 2 * headDim, first });
      list.linears(h, [q, both], [k, room.k], [v, room.v]);
      if (isGated) list.columns('copy', headDim, numHeads, half(0), null, room.q);
      if (norms.qNorm !== null && norms.kNorm !== null)
        list.headNorms([room.q, queries, norms.qNorm], [room.k, keys, norms.kNorm]);
      if (tables !== null) list.ropes(tables, [room.q, queries], [room.k, keys]);
      list.attention(place, room.q, room.k, room.v, room.attended);
      const attended = { of: room.attended, line: headDim, first: 0 };
      if (isGated) list.columns('gate', headDim, numHeads, half(headDim), attended, room.attended);
      list.linears(room.attended, [out, change]);
    },
  };
}

/** Copies of all heads' values that gates take: kept for the gradient, and in work. */
const GATED = {
  no: { kept: 0, working: 0 },
  heads: { kept: 1, working: 2 },
  values: { kept: 2, working: 3 },
} as const satisfies Readonly<Record<NonNullable<ModelConfig['outputGate']> | 'no', unknown>>;

export const attention: MixerKind<Attention> = {
  shapes,
  assemble(config, parts) {
    const names = namesOf(config);
    const qkv = projections(config).map(([name]) => parts.linear(name));
    const o = parts.linear(names.o);
    const gate = config.outputGate === 'heads' ? parts.linear(HEAD_GATE) : null;
    const qNorm = config.qkNorm ? parts.vector(`${names.qNorm}.weight`) : null;
    const kNorm = config.qkNorm && config.keysOf === null ? parts.vector(`${names.kNorm}.weight`) : null;
    const others = [qNorm, kNorm].filter((weight) => weight !== null);
    const linears = [...qkv, ...(gate === null ? [] : [gate]), o];
    const own = { qkv, o, gate, qNorm, kNorm, linears, others };
    return { ...own, run: (x, pass) => run(own, x, pass), step: (given) => step(own, given) };
  },
  tokenFloats: ({ numKvHeads, headDim, keysOf }) => (keysOf === null ? 2 * numKvHeads * headDim : 0),
  stateWidths: () => [],
  activationFloats({ numHeads, numKvHeads, headDim, outputGate, keysOf, valueNorm }) {
    const own = keysOf === null ? (2 + (valueNorm ? 1 : 0)) * numKvHeads : 0;
    return (2 * numHeads + own) * headDim + GATED[outputGate ?? 'no'].kept * numHeads * headDim;
  },
  workingFloats({ numHeads, numKvHeads, headDim, outputGate }) {
    return (2 * numHeads + 3 * numKvHeads) * headDim + GATED[outputGate ?? 'no'].working * numHeads * headDim;
  },
};
