import { describe, expect, it, vi } from 'vitest';
import type { NativeBinding } from '../../../main/tensor/native/binding.ts';
import { sharingConstants } from '../../../main/tensor/native/constants.ts';

const INT32 = 3;
const FLOAT = 1;

function opened() {
  const given: ArrayLike<number>[] = [];
  const createTensor: NativeBinding['createTensor'] = (_shape, _dtype, values) => given.push(values);
  const collectGarbage = vi.fn();
  const binding = sharingConstants({ createTensor, TF_FLOAT: FLOAT } as NativeBinding, collectGarbage);
  return { binding, given, collectGarbage };
}

describe('sharingConstants', () => {
  it('hands the same few numbers over as one array, of each type', () => {
    const { binding, given, collectGarbage } = opened();
    for (let op = 0; op < 2; op++) {
      binding.createTensor([2], INT32, Int32Array.of(1, 0));
      binding.createTensor([2], FLOAT, Float32Array.of(1, 0));
    }
    expect(given.map((values) => given.indexOf(values))).toEqual([0, 1, 0, 1]);
    expect(given.slice(0, 2)).toEqual([Int32Array.of(1, 0), Float32Array.of(1, 0)]);
    expect(collectGarbage).not.toHaveBeenCalled();
    expect(binding.TF_FLOAT).toBe(FLOAT);
  });

  it('hands over what was meant, though the array that had it was written since', () => {
    const { binding, given } = opened();
    const scratch = Int32Array.of(5);
    binding.createTensor([], INT32, scratch);
    scratch[0] = 6;
    for (const n of [6, 5]) binding.createTensor([], INT32, Int32Array.of(n));
    expect(given.map((values) => values[0])).toEqual([5, 6, 5]);
  });

  it('keeps minus zero', () => {
    const { binding, given } = opened();
    for (const zero of [0, -0]) binding.createTensor([], FLOAT, Float32Array.of(zero));
    expect(given.map((values) => Object.is(values[0], -0))).toEqual([false, true]);
  });

  it('has the garbage collected that longer arrays will be', () => {
    const { binding, given, collectGarbage } = opened();
    const long = (): Int32Array => new Int32Array(17);
    for (const values of [long(), long()]) binding.createTensor([17], INT32, values);
    expect(given[0]).not.toBe(given[1]);
    expect(collectGarbage).toHaveBeenCalledTimes(2);
  });

  it('forgets what it has not met for long', () => {
    const { binding, given } = opened();
    for (let n = 0; n <= 2048; n++) binding.createTensor([], INT32, Int32Array.of(n));
    for (const n of [0, 2048]) binding.createTensor([], INT32, Int32Array.of(n));
    const [again, known] = given.slice(-2);
    expect([again === given[0], known === given[2048]]).toEqual([false, true]);
  });
});
