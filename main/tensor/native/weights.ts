/**
 * Weights go to TensorFlow in pieces, straight into the memory where they stay: as one JavaScript array each they would
 * be there twice, from before they are first used until the garbage is collected.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../../pulse.ts';
import { isQuantised } from '../quantised.ts';
import type { WeightPrecision, WeightSource } from '../weights.ts';
import type { NativeBackend } from './binding.ts';
import { BFLOAT16, boolAttr, FLOAT, type Handle, INT32, maths, type Ops, toTensor, typeAttr, withOps } from './ops.ts';

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;

/** Smaller matrices are no matter: 256 KiB of float32. */
const SMALL = 2 ** 16;

/** A matrix that is not small, or any that is kept in 16 bits; null for others. */
export function nativeWeight(
  backend: NativeBackend,
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
): tf.Tensor | null {
  const [rows = 0, width = 0] = shape;
  const dtype = precision === 'bfloat16' ? BFLOAT16 : FLOAT;
  if (shape.length !== 2 || isQuantised(precision) || (dtype === FLOAT && rows * width <= SMALL)) return null;
  const info = withOps(backend, (ops) => {
    const each = Math.max(1, Math.floor(PIECE / width));
    let whole = ops.keep(empty(ops, shape, dtype));
    const release = ({ id }: Handle): void => backend.binding.deleteTensor(id);
    for (let first = 0; first < rows; first += each) {
      pulse();
      const count = Math.min(each, rows - first);
      const current = whole;
      // What a piece was made of goes with it.
      const next = withOps(backend, (own) =>
        own.keep(fill(own, current, piece(own, source, first * width, [count, width], dtype), first)),
      );
      release(whole);
      whole = next;
    }
    return toTensor(backend, whole);
  });
  return tf.engine().makeTensorFromTensorInfo(info);
}

function empty(ops: Ops, shape: readonly number[], dtype: number): Handle {
  return ops.run(
    'Empty',
    [ops.ints(shape)],
    [typeAttr(ops.backend, 'dtype', dtype), boolAttr(ops.backend, 'init', false)],
  );
}

/** Writes rows into `whole`; the result shares its memory. */
function fill(ops: Ops, whole: Handle, rows: Handle, first: number): Handle {
  const places = Array.from({ length: rows.shape[0] ?? 0 }, (_, i) => first + i);
  return ops.run('InplaceUpdate', [whole, ops.ints(places), rows], [typeAttr(ops.backend, 'T', whole.dtype)]);
}

function piece(ops: Ops, source: WeightSource, first: number, shape: readonly [number, number], dtype: number): Handle {
  const { cast, reshape } = maths(ops);
  const bytes = source.readRaw(first, shape[0] * shape[1]);
  if (source.type === 'F32') {
    const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    const handle = ops.floats(floats, shape);
    return dtype === FLOAT ? handle : cast(handle, dtype);
  }
  const stored = bitcast(ops, bytes, source.type === 'BF16' ? BFLOAT16 : HALF);
  const matrix = reshape(stored, shape);
  return matrix.dtype === dtype ? matrix : cast(matrix, dtype);
}

const HALF = 19;

/** Numbers of 16 bits come in as whole numbers of 32: the addon takes no others. */
function bitcast(ops: Ops, bytes: Buffer<ArrayBuffer>, dtype: number): Handle {
  const padded = bytes.byteLength % 4 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(2)]);
  const words = new Int32Array(padded.buffer, padded.byteOffset, padded.byteLength / 4);
  const attrs = [typeAttr(ops.backend, 'T', INT32), typeAttr(ops.backend, 'type', dtype)];
  const pairs = ops.run('Bitcast', [ops.ints(words)], attrs);
  const flat = maths(ops).reshape(pairs, [padded.byteLength / 2]);
  return padded === bytes ? flat : maths(ops).slice(flat, [0], [bytes.byteLength / 2]);
}
