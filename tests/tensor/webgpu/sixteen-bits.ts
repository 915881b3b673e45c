/** Weights as a file of 16 bits has them. */
import { floatToHalf } from '../../../main/model/safetensors.ts';
import type { WeightSource } from '../../../main/tensor/weights.ts';

/** A file's 16-bit numbers, and what they are as floats. */
export function sixteenBits(values: Float32Array, type: WeightSource['type']): WeightSource {
  const floats = Float32Array.from(values);
  const bits = new Uint32Array(floats.buffer);
  const raw = type === 'F16' ? Uint16Array.from(values, floatToHalf) : Uint16Array.from(bits, (word) => word >>> 16);
  return {
    type,
    read: () => floats,
    readPart: (first, count) => floats.slice(first, first + count),
    readRaw: (first, count) => Buffer.from(raw.slice(first, first + count).buffer),
  };
}

/** Cuts the lower 16 bits off, so that bfloat16 keeps the number as it is. */
export function toBfloat(values: Float32Array): Float32Array {
  const out = Float32Array.from(values);
  const bits = new Uint32Array(out.buffer);
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] ?? 0) & 0xffff0000;
  return out;
}
