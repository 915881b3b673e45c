/**
 * A decoding step of up to sixteen rows in five dispatches a layer: q, k and v; attention; output and residual; gate, up
 * and SwiGLU; down and residual. Each does all that follows its product: a norm's numerator and the adapter's A of the
 * next product, tile by tile, whose sums and denominator that one finds.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { DecodeLinear } from '../ops/decode-kernels.ts';
import {
  type DecodeRun,
  linearsOf,
  type PlainLayer,
  type PlainModel,
  stepTensor,
  weightsOf,
} from '../ops/decode-step.ts';
import type { PrefixKv, RowPrefix } from '../ops/kv-cache.ts';
import { gatherRows } from '../ops/rows.ts';
import type { WebGpuBackend } from './backend.ts';
import { type Packer, sizeOf } from './decode-pack.ts';
import { decodeAttention, stretchSums } from './kernels/decode-attention.ts';
import { COLUMNS } from './kernels/decode-finish.ts';
import {
  decodeStart,
  fits,
  type Incoming,
  MOST_ROWS,
  type Outgoing,
  openProduct,
  type RunProduct,
  roomFor,
  sumWords,
} from './kernels/decode-product.ts';
import { type Matrix, matrixOf } from './kernels/matrix.ts';
import { cacheFormat, openKvStore } from './kv-cache.ts';
import type { GpuBuffer } from './pool.ts';

/** Linear layers on the same rows. */
interface Pack {
  readonly weights: readonly Matrix[];
  /** Of each layer's adapter; 0: none has one. */
  readonly rank: number;
  readonly a: readonly (tf.Tensor | number)[];
  readonly b: readonly (tf.Tensor | number)[];
  readonly bias: readonly (tf.Tensor | number)[];
}

/** Small matrices in one buffer, and where each begins, in vectors of four. */
interface Extra {
  readonly buffer: GpuBuffer | null;
  at(part: 'b' | 'bias' | 'gain' | 'a' | 'norms'): number;
}

interface WholeLayer {
  readonly qkv: Pack;
  readonly o: Pack;
  readonly gateUp: Pack;
  readonly down: Pack;
  readonly extras: Readonly<Record<'qkv' | 'attention' | 'o' | 'gateUp' | 'down', Extra>>;
  readonly headNorm: boolean;
}

/** Whether this way takes a model that decode.ts takes: vectors of four everywhere, few rows. */
export function takesWhole(backend: WebGpuBackend, { layers, embedding, shape }: PlainModel, rows: number): boolean {
  const linears = layers.flatMap(linearsOf);
  const ranks = linears.map(({ lora }) => lora?.a.shape[0] ?? 0);
  const { numHeads, headDim } = shape;
  const even = [embedding.shape[1], numHeads * headDim, ...linears.map(({ weight }) => weight.shape[0]), ...ranks];
  return rows <= MOST_ROWS && even.every((size) => size % 4 === 0) && fits(backend, Math.max(...ranks));
}

/** The run owns the packer. */
export function openWholeRun(
  backend: WebGpuBackend,
  packer: Packer,
  model: PlainModel,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
): DecodeRun {
  const { gpu } = backend;
  const { shape, normEps: eps, scaling } = model;
  const { numHeads, numKvHeads, headDim } = shape;
  const [vocabulary, width] = model.embedding.shape;
  const inner = model.layers[0]?.gate.weight.shape[0] ?? 0;
  const queries = numHeads * headDim;
  const room = roomFor(backend, prompts.length);
  const packs = model.layers.map((layer) => packLayer(packer, layer));
  const layers = packs.map((pack, i) => withExtras(packer, model, pack, i, packs[i + 1]));
  const start = extraOf(packer, { gain: [model.layers[0]?.inputNorm ?? 0], a: packs[0]?.qkv.a ?? [] });
  const trig = packer.sideBySide([model.rope.cos, model.rope.sin]);
  const head = matrixOf(backend, model.head, true);
  const heads = head.parts ?? [head];
  const lines = (of: readonly Pack[]): number => Math.max(...of.map(linesOf));
  const lowOf = (pack: keyof WholeLayer & ('qkv' | 'o' | 'gateUp' | 'down')): number =>
    lines(packs.map((layer) => layer[pack]));

  // Places in vectors of four.
  const tiles = Math.ceil(width / COLUMNS);
  const residual = tableOf({
    x: (room * width) / 4,
    normed: (room * width) / 4,
    squares: (tiles * room) / 4,
    low: tiles * room * Math.max(lowOf('qkv'), lowOf('gateUp')),
  });
  const attended = tableOf({ x: (room * queries) / 4, low: numKvHeads * room * lowOf('o') });
  const active = tableOf({ x: (room * inner) / 4, low: Math.ceil((2 * inner) / COLUMNS) * room * lowOf('down') });
  const buffers = {
    residual: packer.own(16 * residual.size),
    attended: packer.own(16 * attended.size),
    active: packer.own(16 * active.size),
    qkv: packer.own(4 * room * (queries + 2 * numKvHeads * headDim)),
  };
  const longest = Math.max(0, ...prompts.map(({ length }) => length)) + capacity;
  const words = [
    stretchSums(backend, shape, prompts.length, longest),
    ...[
      ...heads.map((part) => ({ weights: [part], rank: 0, swiglu: false })),
      ...packs.flatMap(({ qkv, o, gateUp, down }) => [
        ...[qkv, o, down].map((pack) => ({ ...pack, swiglu: false })),
        { ...gateUp, swiglu: true },
      ]),
    ].map((divided) => sumWords(backend, divided, room)),
  ].reduce((most, count) => Math.max(most, count), 4);
  const sums = packer.own(4 * words);
  gpu.clear(sums, 0, words);
  // Last, as it gives back by itself what it took.
  const format = cacheFormat(backend, weightsOf(model));
  const store = openKvStore(backend, prefix, prompts, capacity, shape, format, true);

  const fromResidual = (pack: Pack | null): Incoming => ({
    buffer: buffers.residual,
    at: residual.at('normed'),
    parts: tiles,
    squares: residual.at('squares'),
    low: residual.at('low'),
    lines: pack === null ? 0 : linesOf(pack),
  });
  const toNext = (pack: Pack | undefined, extra: Extra, low: number): Outgoing | null =>
    pack === undefined || pack.rank === 0 ? null : { a: extra.at('a'), low, lines: linesOf(pack) };
  const common = { room, sums };
  const fromPack = (pack: Pack, extra: Extra) => ({
    weights: pack.weights,
    extra: extra.buffer,
    low: pack.rank === 0 ? null : { b: extra.at('b'), rank: pack.rank, scale: scaling },
    bias: pack.bias.length === 0 ? null : extra.at('bias'),
  });
  /** What becomes of a residual, for the next norm and product. */
  const ontoResidual = (extra: Extra, next: Pack | undefined) => ({
    place: { at: residual.at('x'), width: width / 4 },
    norm: { gain: extra.at('gain'), at: residual.at('normed'), squares: residual.at('squares') },
    next: toNext(next, extra, residual.at('low')),
  });

  /** One layer's step for so many rows. */
  function openLayer({ qkv, o, gateUp, down, extras, headNorm }: WholeLayer, index: number): (rows: number) => void {
    const project = openProduct(backend, {
      ...common,
      ...fromPack(qkv, extras.qkv),
      x: fromResidual(qkv),
      eps,
      epilogue: 'store',
      place: { at: 0, width: queries + 2 * numKvHeads * headDim },
      norm: null,
      next: null,
    });
    const whole = {
      ...common,
      extra: extras.attention.buffer,
      headNorm,
      next: toNext(o, extras.attention, attended.at('low')),
    };
    const positions = model.rope.cos.shape[0];
    const projected = { raw: buffers.qkv, trig, positions, norms: null, eps, whole };
    const parts = { squares: 0, at: 0 };
    const output = openProduct(backend, {
      ...common,
      ...fromPack(o, extras.o),
      ...ontoResidual(extras.o, gateUp),
      x: { ...parts, buffer: buffers.attended, parts: numKvHeads, low: attended.at('low'), lines: linesOf(o) },
      eps: null,
      epilogue: 'residual',
    });
    const widen = openProduct(backend, {
      ...common,
      ...fromPack(gateUp, extras.gateUp),
      x: fromResidual(gateUp),
      eps,
      epilogue: 'swiglu',
      place: { at: 0, width: inner / 4 },
      norm: null,
      next: toNext(down, extras.gateUp, active.at('low')),
    });
    const narrow = openProduct(backend, {
      ...common,
      ...fromPack(down, extras.down),
      ...ontoResidual(extras.down, packs[index + 1]?.qkv),
      x: {
        ...parts,
        buffer: buffers.active,
        parts: Math.ceil((2 * inner) / COLUMNS),
        low: active.at('low'),
        lines: linesOf(down),
      },
      eps: null,
      epilogue: 'residual',
    });
    return (rows) => {
      project(rows, buffers.qkv);
      decodeAttention(backend, shape, { ...store.layer(index), qkv: projected, out: buffers.attended });
      output(rows, buffers.residual);
      widen(rows, buffers.active);
      narrow(rows, buffers.residual);
    };
  }

  /** The logits of the columns from `first` on. */
  const openHead = (part: Matrix, first: number): RunProduct =>
    openProduct(backend, {
      ...common,
      x: fromResidual(null),
      weights: [part],
      eps,
      epilogue: 'store',
      extra: null,
      low: null,
      bias: null,
      norm: null,
      next: null,
      place: { at: first, width: vocabulary },
    });

  const layerSteps = layers.map(openLayer);
  const headSteps = heads.map((part, i) =>
    openHead(
      part,
      heads.slice(0, i).reduce((sum, { lines: before }) => sum + before, 0),
    ),
  );
  const begun = { room, extra: start.buffer, ...ontoResidual(start, packs[0]?.qkv) };
  return {
    step: (ids) =>
      tf.tidy(() => {
        const indices = stepTensor(ids);
        const rows = indices.size;
        const x = gatherRows(model.embedding, indices);
        decodeStart(backend, backend.buffer(x), begun, rows, buffers.residual);
        x.dispose();
        for (const step of layerSteps) step(rows);
        store.advance();
        const logits = tf.engine().makeTensorFromTensorInfo(backend.output([rows, vocabulary])) as tf.Tensor2D;
        for (const step of headSteps) step(rows, backend.buffer(logits));
        return logits;
      }),
    skip: store.advance,
    keep: store.keep,
    written: store.written,
    dispose: () => {
      store.dispose();
      packer.dispose();
    },
  };
}

/** Vectors of four lines of A. */
const linesOf = ({ weights, rank }: Pack): number => (weights.length * rank) / 4;

/** Places of parts of so many vectors, one after the other. */
function tableOf<P extends string>(sizes: Readonly<Record<P, number>>): { at(part: P): number; size: number } {
  const places = new Map<string, number>();
  let size = 0;
  for (const [part, count] of Object.entries<number>(sizes)) {
    places.set(part, size);
    size += Math.ceil(count);
  }
  return { at: (part) => places.get(part) ?? 0, size };
}

function packLayer(packer: Packer, { q, k, v, o, gate, up, down }: PlainLayer) {
  const pack = (...linears: readonly DecodeLinear[]): Pack => packLinears(packer, linears);
  return { qkv: pack(q, k, v), o: pack(o), gateUp: pack(gate, up), down: pack(down) };
}

function packLinears(packer: Packer, linears: readonly DecodeLinear[]): Pack {
  const rank = Math.max(...linears.map(({ lora }) => lora?.a.shape[0] ?? 0));
  const biased = linears.some(({ bias }) => bias !== null);
  // Layers without an adapter of their own get one of zeros.
  return {
    weights: linears.map(({ weight }) => packer.matrix(weight)),
    rank,
    a: rank === 0 ? [] : linears.map(({ lora, weight }) => lora?.a ?? rank * weight.shape[1]),
    b: rank === 0 ? [] : linears.map(({ lora, weight }) => lora?.b ?? rank * weight.shape[0]),
    bias: biased ? linears.map(({ bias, weight }) => bias ?? weight.shape[0]) : [],
  };
}

type Packs = ReturnType<typeof packLayer>;

function withExtras(
  packer: Packer,
  model: PlainModel,
  packs: Packs,
  index: number,
  following: Packs | undefined,
): WholeLayer {
  const { postNorm, qNorm, kNorm } = model.layers[index] as PlainLayer;
  const { qkv, o, gateUp, down } = packs;
  const norms = qNorm === null || kNorm === null ? [] : [qNorm, kNorm];
  const nextNorm = model.layers[index + 1]?.inputNorm ?? model.norm;
  const extras = {
    qkv: extraOf(packer, { b: qkv.b, bias: qkv.bias }),
    attention: extraOf(packer, { norms, a: o.a }),
    o: extraOf(packer, { b: o.b, bias: o.bias, gain: [postNorm], a: gateUp.a }),
    gateUp: extraOf(packer, { b: gateUp.b, a: down.a }),
    down: extraOf(packer, { b: down.b, bias: down.bias, gain: [nextNorm], a: following?.qkv.a ?? [] }),
  };
  return { ...packs, extras, headNorm: norms.length > 0 };
}

function extraOf(
  packer: Packer,
  parts: Readonly<Partial<Record<'b' | 'bias' | 'gain' | 'a' | 'norms', readonly (tf.Tensor | number)[]>>>,
): Extra {
  const all = Object.values(parts).flat();
  const sizes = Object.entries(parts).map(([part, tensors]) => [
    part,
    tensors.reduce<number>((sum, tensor) => sum + sizeOf(tensor), 0) / 4,
  ]);
  const table = tableOf(Object.fromEntries(sizes) as Record<string, number>);
  return { buffer: all.length === 0 ? null : packer.sideBySide(all), at: table.at };
}
