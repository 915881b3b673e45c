/**
 * Arrays of a few numbers, as axes and factors are, that go to TensorFlow again and again. V8 has such an array in its own
 * heap until the addon asks for its address; then it moves into glibc's, where it stays until V8 collects garbage, which
 * sees too little of it to begin. Between tensors, those of some thousand ops keep a gigabyte apart.
 */
import type { NativeBinding } from './binding.ts';
import { openNewestCollection } from './garbage.ts';

type Values = Parameters<NativeBinding['createTensor']>[2];

/** Longer ones are outside V8's heap from the first. */
const MOST_BYTES = 64;
/** Arrays that are kept: an op needs two or three. */
const MOST_KEPT = 2048;

/**
 * The same addon, with one array for all tensors of the same few numbers: tensors are never changed in an array's memory.
 * Other arrays are garbage soon, which is collected where there are many.
 */
export function sharingConstants<B extends NativeBinding>(binding: B, collectGarbage = openNewestCollection()): B {
  const kept = new Map<string, Values>();
  const shared = (values: Values): Values => {
    if (values.byteLength > MOST_BYTES || values.some((value) => Object.is(value, -0))) {
      collectGarbage();
      return values;
    }
    const key = `${values.constructor.name} ${values.join()}`;
    // A copy, as who gave the array may write other numbers into it.
    const known = kept.get(key) ?? values.slice();
    // The newest last.
    kept.delete(key);
    kept.set(key, known);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return known;
  };
  const createTensor: B['createTensor'] = (shape, dtype, values) => binding.createTensor(shape, dtype, shared(values));
  return Object.create(binding, { createTensor: { value: createTensor } }) as B;
}
