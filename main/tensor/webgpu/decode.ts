/**
 * Decoding on webgpu. Up to sixteen rows have a shorter way (decode-whole.ts). For more, a step takes at most ten
 * dispatches a layer: norm with the adapter's A; q, k and v; rotation, cache and attention, and for many keys the sum of
 * their stretches; A of the output; output and residual; norm with A; gate, up and SwiGLU; A of down; down and residual.
 * Without an adapter it is two fewer. Buffers are taken once a run, so their bind groups are found again at every token.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { DecodeLinear } from '../ops/decode-kernels.ts';
import {
  type DecodeModel,
  type DecodeRun,
  linearsOf,
  type PlainLayer,
  type PlainModel,
  plainModel,
  stepTensor,
  weightsOf,
} from '../ops/decode-step.ts';
import type { PrefixKv, RowPrefix } from '../ops/kv-cache.ts';
import { gatherRows } from '../ops/rows.ts';
import type { WebGpuBackend } from './backend.ts';
import { openPacker, type Packer } from './decode-pack.ts';
import { openWholeRun, takesWhole } from './decode-whole.ts';
import { decodeAttention } from './kernels/decode-attention.ts';
import { normAndLowRank } from './kernels/decode-norm.ts';
import { type Matrix, matrixOf } from './kernels/matrix.ts';
import { rowsProducts } from './kernels/product-rows.ts';
import type { Epilogue } from './kernels/product-slices.ts';
import { cacheFormat, openKvStore } from './kv-cache.ts';
import type { GpuBuffer } from './pool.ts';

/** As many as a run has by default. More at a time compute so much a weight that tiled products are better. */
const MOST_ROWS = 128;

/** Linear layers on the same rows: their weights as they are, what is small side by side. */
interface Pack {
  readonly weights: readonly Matrix[];
  readonly bias: GpuBuffer | null;
  /** A of all layers [Σ r, k], B of all [Σ n, r]. */
  readonly low: { readonly a: GpuBuffer; readonly b: Matrix; readonly lines: number } | null;
}

interface PackedLayer {
  readonly source: PlainLayer;
  readonly qkv: Pack;
  readonly o: Pack;
  readonly gateUp: Pack;
  readonly down: Pack;
  /** The heads' norms, the queries' before the keys'. */
  readonly norms: GpuBuffer | null;
}

export function openGpuDecodeRun(
  backend: WebGpuBackend,
  given: DecodeModel,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
): DecodeRun | null {
  const model = plainModel(given);
  if (model === null || !takes(backend, model, prompts.length)) return null;
  const packer = openPacker(backend);
  try {
    if (takesWhole(backend, model, prompts.length))
      return openWholeRun(backend, packer, model, prefix, prompts, capacity);
    return openRun(backend, packer, model, prefix, prompts, capacity);
  } catch (error) {
    packer.dispose();
    throw error;
  }
}

/** Whether the kernels take the model: whole vectors everywhere, and not more rows than are worth it. */
function takes(backend: WebGpuBackend, { layers, head, shape: { headDim } }: PlainModel, rows: number): boolean {
  const wide = layers.every((layer) =>
    [layer.q, layer.o, layer.gate, layer.down].every(({ weight }) => weight.shape[1] % 4 === 0),
  );
  // The low-rank B of gate and up has as many lines as both, as SwiGLU's kernel expects no bias.
  const plain = layers.every(({ gate, up }) => gate.bias === null && up.bias === null);
  // The head alone may lie in several buffers.
  const whole = layers.every((layer) => linearsOf(layer).every(({ weight }) => backend.parts(weight) === null));
  return (
    rows <= MOST_ROWS && wide && plain && whole && headDim % 8 === 0 && head.shape[1] % 4 === 0 && layers.length > 0
  );
}

/** The run owns the packer. */
function openRun(
  backend: WebGpuBackend,
  packer: Packer,
  model: PlainModel,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
): DecodeRun {
  const { shape, normEps: eps, scaling } = model;
  const layers = model.layers.map((layer) => packLayer(packer, layer));
  const trig = packer.sideBySide([model.rope.cos, model.rope.sin]);
  const positions = model.rope.cos.shape[0];
  const [vocabulary, width] = model.embedding.shape;
  const inner = model.layers[0]?.gate.weight.shape[0] ?? 0;
  const queries = shape.numHeads * shape.headDim;
  const all = queries + 2 * shape.numKvHeads * shape.headDim;
  const most = prompts.length;
  const rank = Math.max(
    0,
    ...layers.flatMap(({ qkv, o, gateUp, down }) => [qkv, o, gateUp, down].map(({ low }) => low?.lines ?? 0)),
  );
  const take = (columns: number): GpuBuffer => packer.own(4 * most * columns);
  const [h, qkv, attended, active] = [take(width), take(all), take(queries), take(inner)];
  const low = rank === 0 ? null : take(rank);
  // Last, as it gives back by itself what it took.
  const store = openKvStore(backend, prefix, prompts, capacity, shape, cacheFormat(backend, weightsOf(model)));

  /** Products of a pack; its low-rank part was made before. */
  function products(x: GpuBuffer, { weights, bias, low: own }: Pack, epilogue: Epilogue, out: GpuBuffer): void {
    const rows = store.rows;
    const r = own === null ? 0 : own.lines / weights.length;
    const second =
      own === null || low === null
        ? null
        : {
            a: { buffer: low, format: 'f32', lines: rows * weights.length, length: r, transposed: false } as const,
            b: own.b,
            scale: scaling,
          };
    rowsProducts(backend, {
      x,
      rows,
      weights,
      epilogue,
      out,
      ...(second && { second }),
      ...(bias && { bias }),
    });
  }

  /** The norm of x in h and the low-rank numbers of h; without a norm those of x. */
  function before(x: GpuBuffer, columns: number, pack: Pack, norm: tf.Tensor1D | null): void {
    const lowRank = pack.low === null || low === null ? undefined : { a: pack.low.a, lines: pack.low.lines, out: low };
    if (norm === null && lowRank === undefined) return;
    const normed = norm === null ? undefined : { weight: backend.buffer(norm), eps, out: h };
    normAndLowRank(backend, {
      x,
      rows: store.rows,
      width: columns,
      ...(normed && { norm: normed }),
      ...(lowRank && { low: lowRank }),
    });
  }

  function layerStep(layer: PackedLayer, index: number, x: GpuBuffer): void {
    const { norms } = layer;
    before(x, width, layer.qkv, layer.source.inputNorm);
    products(h, layer.qkv, 'store', qkv);
    decodeAttention(backend, shape, {
      ...store.layer(index),
      qkv: { raw: qkv, trig, positions, norms, eps },
      out: attended,
    });
    before(attended, queries, layer.o, null);
    products(attended, layer.o, 'add', x);
    before(x, width, layer.gateUp, layer.source.postNorm);
    products(h, layer.gateUp, 'swiglu', active);
    before(active, inner, layer.down, null);
    products(active, layer.down, 'add', x);
  }

  return {
    step: (ids) =>
      tf.tidy(() => {
        const indices = stepTensor(ids);
        const rows = indices.size;
        const x = gatherRows(model.embedding, indices);
        const residual = backend.buffer(x);
        layers.forEach((layer, index) => {
          layerStep(layer, index, residual);
        });
        store.advance();
        normAndLowRank(backend, {
          x: residual,
          rows,
          width,
          norm: { weight: backend.buffer(model.norm), eps, out: h },
        });
        x.dispose();
        const logits = tf.engine().makeTensorFromTensorInfo(backend.output([rows, vocabulary])) as tf.Tensor2D;
        const head = matrixOf(backend, model.head, true);
        let first = 0;
        for (const part of head.parts ?? [head]) {
          const call = { x: h, rows, weights: [part], out: backend.buffer(logits) };
          rowsProducts(backend, { ...call, place: { columns: vocabulary, first } });
          first += part.lines;
        }
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

function packLayer(packer: Packer, source: PlainLayer): PackedLayer {
  const { q, k, v, o, gate, up, down, qNorm, kNorm } = source;
  return {
    source,
    qkv: packLinears(packer, [q, k, v]),
    o: packLinears(packer, [o]),
    gateUp: packLinears(packer, [gate, up]),
    down: packLinears(packer, [down]),
    norms: qNorm === null || kNorm === null ? null : packer.sideBySide([qNorm, kNorm]),
  };
}

function packLinears(packer: Packer, linears: readonly DecodeLinear[]): Pack {
  const weights = linears.map(({ weight }) => packer.matrix(weight));
  const bias = linears.some((linear) => linear.bias !== null)
    ? packer.sideBySide(linears.map((linear) => linear.bias ?? linear.weight.shape[0]))
    : null;
  const rank = Math.max(...linears.map(({ lora }) => lora?.a.shape[0] ?? 0));
  if (rank === 0) return { weights, bias, low: null };
  // Layers without an adapter of their own get one of zeros.
  const a = packer.sideBySide(linears.map(({ lora, weight }) => lora?.a ?? rank * weight.shape[1]));
  const b = packer.sideBySide(linears.map(({ lora, weight }) => lora?.b ?? rank * weight.shape[0]));
  const lines = linears.reduce((sum, { weight }) => sum + weight.shape[0], 0);
  return {
    weights,
    bias,
    low: { a, b: { buffer: b, format: 'f32', lines, length: rank, transposed: true }, lines: rank * linears.length },
  };
}
