import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import '../../../main/tensor/gradients.ts';
import { problemSentence } from '../../../main/native/problems.ts';
import { toBfloat16 } from '../../../main/tensor/bfloat16.ts';
import { setComputeDtype, whyNoBfloat16 } from '../../../main/tensor/compute-dtype.ts';
import type { NativeBackend } from '../../../main/tensor/native/binding.ts';
import { hasKernels, type KernelBinding, runKernel } from '../../../main/tensor/native/cpu/run-kernel.ts';
import { openNativeBackend } from '../../../main/tensor/native/open.ts';
import { weightProduct } from '../../../main/tensor/ops/weight-product.ts';
import { nativeUnderTest } from '../../native-under-test.ts';

const opened = nativeUnderTest === null ? null : await openNativeBackend(2, nativeUnderTest);
const binding = opened?.ok && hasKernels(opened.backend.binding) ? opened.backend.binding : null;
const present = opened?.ok === true && opened.kernels && !opened.gpu;
if (opened !== null && !present)
  console.warn(`skipped: ${opened.ok ? 'the addon has no kernels of ours' : problemSentence(opened.problem)}`);

/** Numbers between -1 and 1 that repeat nowhere. */
const numbers = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed));

/** The nearest numbers of bfloat16. */
const rounded = (values: Float32Array): Float32Array =>
  new Float32Array(Uint32Array.from(toBfloat16(values), (half) => half << 16).buffer);

/** Runs a kernel by its name in tfjs; what it gives back is disposed of with the test. */
function run(
  name: string,
  inputs: Readonly<Record<string, tf.Tensor | undefined>>,
  attrs: tf.NamedAttrMap = {},
): tf.Tensor[] {
  return [tf.engine().runKernel(name, inputs as tf.NamedTensorMap, attrs) as tf.Tensor | tf.Tensor[]].flat();
}

const handles = (): number => (tf.backend() as NativeBackend).binding.getNumOfTensors();

describe.runIf(present)("the addon's kernels", () => {
  const sizes = [
    ...[
      [1, 1, 1],
      [1, 9, 7],
      [3, 5, 8],
      [6, 16, 4],
      [7, 17, 33],
      [32, 50, 40],
      [33, 50, 40],
      [100, 31, 500],
    ],
    ...[
      [13, 3000, 17],
      [2, 70, 1000],
      [64, 64, 9000],
    ],
    // Columns that each tile packs itself; rows that would share the places of a cache; and neither.
    ...[
      [40, 800, 70],
      [131, 333, 384],
      [512, 805, 17],
      [33, 800, 1024],
      [600, 70, 1000],
      // Rows that stay in the cache while larger weights stream past.
      [40, 800, 1024],
      [250, 700, 400],
    ],
    // Rows or columns that fill a vector or a part of one, with a part of a panel left over.
    ...[
      [16, 61, 50],
      [20, 61, 900],
      [45, 31, 900],
      [500, 16, 700],
      [4000, 5, 3],
    ],
  ] as const;

  it.each(sizes)('multiply %i x %i matrices of depth %i, transposed or not', (m = 1, n = 1, k = 1) => {
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const [x, y] = [numbers(m * k, 1), numbers(k * n, 2)];
      const a = tf.tensor2d(x, transposeA ? [k, m] : [m, k]);
      const b = tf.tensor2d(y, transposeB ? [n, k] : [k, n]);
      const product = tf.matMul(a, b, transposeA, transposeB).dataSync();
      let worst = 0;
      for (let at = 0; at < m * n; at += Math.max(1, Math.floor((m * n) / 500))) {
        const [i, j] = [Math.floor(at / n), at % n];
        let sum = 0;
        for (let l = 0; l < k; l++)
          sum += (x[transposeA ? l * m + i : i * k + l] ?? 0) * (y[transposeB ? j * k + l : l * n + j] ?? 0);
        worst = Math.max(worst, Math.abs(sum - (product[at] ?? Number.NaN)));
      }
      expect(worst).toBeLessThan(1e-6 * k + 1e-6);
    }
  });

  it.each(sizes)('multiply weights of %i x %i in depth %i by rounded numbers in bfloat16', (m, n, k) => {
    if (whyNoBfloat16() !== null) return;
    const [x, y] = [numbers(m * k, 1), numbers(n * k, 2)];
    const both = (a: Float32Array, b: Float32Array): Float32Array =>
      weightProduct(tf.tensor2d(a, [m, k]), tf.tensor2d(b, [n, k])).dataSync<'float32'>();
    const exact = both(rounded(x), rounded(y));
    setComputeDtype('bfloat16');
    const product = both(x, y);
    setComputeDtype('float32');
    const worst = product.reduce((most, value, i) => Math.max(most, Math.abs(value - (exact[i] ?? Number.NaN))), 0);
    expect(worst).toBeLessThan(3e-6 * k + 1e-6);
  });

  it('compute in large memory that was given back, never in what is still in use', () => {
    const [rows, columns] = [4100, 2100];
    const factor = tf.ones<tf.Rank.R2>([1, columns]);
    // 34 MB each.
    const filled = (value: number): tf.Tensor => tf.matMul(tf.fill([rows, 1], value), factor);
    const holds = (x: tf.Tensor, value: number): boolean => x.dataSync<'float32'>().every((each) => each === value);
    const [first, second] = [filled(1), filled(2)];
    expect([holds(first, 1), holds(second, 2)]).toEqual([true, true]);
    first.dispose();
    const [third, fourth] = [filled(3), filled(4)];
    expect([holds(second, 2), holds(third, 3), holds(fourth, 4)]).toEqual([true, true, true]);
    tf.dispose([second, third, fourth]);
  });

  it('leave alone what shares its numbers with a tensor that they change', () => {
    const values = numbers(64, 3);
    const before = values.slice();
    const [target, x] = [tf.tensor1d(values), tf.ones([64])];
    const copy = target.clone();
    tf.engine().runKernel('AddInPlace', { target, x }, { scale: 2 });
    expect(values).toEqual(before);
    target.dataSync<'float32'>().forEach((value, i) => {
      expect(value).toBeCloseTo((before[i] ?? 0) + 2, 6);
    });
    copy.dispose();
  });

  it('look at the type of what they change before they copy it', () => {
    const target = tf.tensor1d([1, 2, 3], 'int32');
    const id = () => (tf.backend() as NativeBackend).tensorMap.get(target.dataId).id;
    // The first use brings it into the addon.
    run('GatherRows', { x: tf.ones([4, 2]), indices: target });
    const before = id();
    expect(() => run('AddInPlace', { target, x: tf.ones([3]) }, { scale: 1 })).toThrow(
      'Expected "target" to be of type 1, got 3',
    );
    expect([id(), ...target.dataSync()]).toEqual([before, 1, 2, 3]);
  });

  it.each([false, true])('give the same gradient twice from the same saved tensors (entropy: %s)', (withEntropy) => {
    const [hidden, weight] = [tf.tensor2d(numbers(6 * 5, 1), [6, 5]), tf.tensor2d(numbers(9 * 5, 2), [9, 5])];
    const targets = tf.tensor1d([0, 8, 3, 3, 1, 7], 'int32');
    const [logps, entropy, lse] = run('SelectiveLogSoftmax', { hidden, weight, targets }, { temperature: 0.7 });
    const saved = lse?.dataSync().slice();
    const dentropy = withEntropy ? tf.tensor1d(numbers(6, 4)) : tf.zeros([6]);
    const inputs = { dlogp: tf.tensor1d(numbers(6, 3)), dentropy, hidden, weight, targets, entropy, lse };
    const gradient = () =>
      run('SelectiveLogSoftmaxGrad', inputs, { temperature: 0.7, needHidden: true, needWeight: true }).map((x) =>
        x.dataSync().slice(),
      );
    const first = gradient();
    expect(gradient()).toEqual(first);
    expect(lse?.dataSync()).toEqual(saved);
    expect(logps?.shape).toEqual([6]);
  });

  it('give the same log-probabilities and gradients in chunks of rows as at once', () => {
    const [n, width, vocabulary] = [7, 5, 11];
    const tensor = (values: Float32Array | Int32Array, shape: readonly number[]) => {
      const dtype = values instanceof Int32Array ? 3 : 1;
      return { id: binding?.createTensor(shape, dtype, values) ?? 0 };
    };
    const empty = (...shape: number[]) => ({ id: binding?.allocateTensor(shape, 1) ?? 0 });
    const values = ({ id }: { id: number }) => [...(binding?.tensorDataSync(id) ?? [])];
    const inputs = {
      hidden: tensor(numbers(n * width, 1), [n, width]),
      weight: tensor(numbers(vocabulary * width, 2), [vocabulary, width]),
      targets: tensor(Int32Array.from([0, 10, 3, 3, 1, 7, 2]), [n]),
    };
    const compute = (chunkRows: number, probs: { id: number }) => {
      if (binding === null) throw new Error('Expected an addon');
      const settings = { temperature: 0.7, chunkRows, bfloat16: false };
      const [logps, entropies] = [empty(n), empty(n)];
      runKernel(binding, 'logSoftmax', { ...inputs, logps, entropies, probs }, settings);
      const [dHidden, dWeight] = [empty(n, width), empty(vocabulary, width)];
      const given = { dlogp: tensor(numbers(n, 5), [n]), entropy: entropies, probs };
      runKernel(binding, 'logSoftmaxGrad', { ...inputs, ...given, dHidden, dWeight }, settings);
      return [logps, entropies, dHidden, dWeight].flatMap(values);
    };
    const atOnce = compute(n, empty(n, vocabulary));
    for (const other of [compute(n, empty(0)), compute(3, empty(0)), compute(3, empty(n, vocabulary))])
      other.forEach((value, i) => {
        expect(value).toBeCloseTo(atOnce[i] ?? Number.NaN, 5);
      });
  });

  it.each([
    ['SwiGlu', { gate: [2, 3], up: [3, 2] }, {}, `Expected swiglu's "up" to be [2, 3], got [3, 2]`],
    ['RmsNorm', { x: [4], weight: [4] }, { eps: 1e-5 }, `Expected rmsNorm's "x" to be a matrix, got [4]`],
    ['RmsNorm', { x: [2, 4], weight: [3] }, { eps: 1e-5 }, `Expected rmsNorm's "weight" to be [4], got [3]`],
    ['AddInPlace', { target: [4], x: [5] }, { scale: 1 }, `Expected addInPlace's "x" to be [4], got [5]`],
    ['SampleRows', { logits: [2, 3], uniforms: [3] }, { temperature: 1 }, `"uniforms" to be [2], got [3]`],
    ['SampleRows', { logits: [2, 0], uniforms: [2] }, { temperature: 1 }, `"logits" to have a column, got none`],
    [
      'BatchMatMul',
      { a: [2, 3], b: [2, 3] },
      { transposeA: false, transposeB: false },
      `Expected product's "b" to be [3, 3], got [2, 3]`,
    ],
  ] as const)('refuse %s of %o', (name, shapes, attrs, message) => {
    const inputs = Object.fromEntries(Object.entries(shapes).map(([key, shape]) => [key, tf.ones([...shape])]));
    expect(() => run(name, inputs, attrs)).toThrow(message);
    // By now the inputs are in the addon.
    const before = handles();
    expect(() => run(name, inputs, attrs)).toThrow(message);
    expect(handles()).toBe(before);
  });

  const ints = (values: readonly number[], shape = [values.length]) => tf.tensor(values, shape, 'int32');

  it.each([
    [-2, `Expected gatherRows's "indices" to be from -1 to 3, got -2`],
    [4, `Expected gatherRows's "indices" to be from -1 to 3, got 4`],
  ])('refuse the row %i of a table of four', (index, message) => {
    expect(() => run('GatherRows', { x: tf.ones([4, 2]), indices: ints([0, index]) })).toThrow(message);
    const scatter = { dy: tf.ones([2, 2]), indices: ints([0, index]) };
    expect(() => run('ScatterAddRows', scatter, { rows: 4 })).toThrow(message.replace('gather', 'scatterAdd'));
  });

  it.each([-1, 9])('refuse the target token %i in a vocabulary of nine', (target) => {
    const inputs = { hidden: tf.ones([2, 3]), weight: tf.ones([9, 3]), targets: ints([0, target]) };
    const message = `"targets" to be from 0 to 8, got ${target}`;
    expect(() => run('SelectiveLogSoftmax', inputs, { temperature: 1 })).toThrow(message);
    const vector = tf.ones([2]);
    const grads = { ...inputs, dlogp: vector, dentropy: tf.zeros([2]), entropy: vector, lse: tf.ones([2, 9]) };
    const attrs = { temperature: 1, needHidden: true, needWeight: true };
    expect(() => run('SelectiveLogSoftmaxGrad', grads, attrs)).toThrow(message);
  });

  it.each([-1, 5])('refuse the position %i in tables of five', (position) => {
    const tables = { cos: tf.ones([5, 2]), sin: tf.ones([5, 2]) };
    const inputs = { x: tf.ones([2, 8]), positions: ints([0, position]), ...tables };
    const attrs = { headDim: 4, inverse: false };
    expect(() => run('Rope', inputs, attrs)).toThrow(`"positions" to be from 0 to 4, got ${position}`);
  });

  it.each([
    ['a gap', [0, 2, 0, 0, 3, 3, 0, 0], 'to have one that starts at token 2, got 3'],
    ['an overlap', [0, 3, 0, 0, 2, 4, 0, 0], 'to have one that starts at token 3, got 2'],
    ['a start before the batch', [-1, 7, 0, 0], 'to have one that starts at token 0, got -1'],
    ['too few tokens', [0, 5, 0, 0], 'to cover 6 tokens, got 5'],
    ['too many tokens', [0, 7, 0, 0], 'to cover 6 tokens, got 7'],
    ['a prefix beyond the batch', [0, 3, 4, 3, 3, 3, 0, 0], 'to have a prefix within 0..6 outside 0..3, got 4..7'],
    ['a prefix before it', [0, 3, 0, 0, 3, 3, -1, 2], 'to have a prefix within 0..6 outside 3..6, got -1..1'],
    ['a prefix of negative length', [0, 3, 0, 0, 3, 3, 2, -1], 'to have a prefix within 0..6 outside 3..6, got 2..1'],
    ['a prefix within itself', [0, 3, 0, 0, 3, 3, 2, 2], 'to have a prefix within 0..6 outside 3..6, got 2..4'],
  ])('refuse segments with %s', (_, table, message) => {
    const heads = { numHeads: 2, numKvHeads: 1, headDim: 4, scale: 0.5 };
    const segments = ints(table, [table.length / 4, 4]);
    const inputs = { q: tf.ones([6, 8]), k: tf.ones([6, 4]), v: tf.ones([6, 4]), segments };
    expect(() => run('PackedAttention', inputs, heads)).toThrow(message);
    const saved = { dy: tf.ones([6, 8]), out: tf.ones([6, 8]), lse: tf.ones([6, 2]) };
    expect(() => run('PackedAttentionGrad', { ...inputs, ...saved }, heads)).toThrow(message);
  });

  describe('DecodeAttention', () => {
    const heads = { numHeads: 2, numKvHeads: 1, headDim: 4, scale: 0.5 };
    const inputs = (changes: Readonly<Record<string, tf.Tensor>> = {}) => ({
      q: tf.ones([2, 8]),
      k: tf.ones([2, 4]),
      v: tf.ones([2, 4]),
      prefixK: tf.ones([1, 128, 4]),
      prefixV: tf.ones([1, 128, 4]),
      ownK: tf.ones([3, 1, 4, 4]),
      ownV: tf.ones([3, 1, 4, 4]),
      rows: ints([0, 0, 3, 2, 64, 2], [2, 3]),
      positions: ints([5, 2], [2]),
      ...changes,
    });

    it('answers where all is well', () => {
      expect(run('DecodeAttention', inputs(), heads)[0]?.shape).toEqual([2, 8]);
    });

    it.each([
      [[3, 0, 3, 2, 64, 2], 'to have a slot from 0 to 2, got 3'],
      [[0, 0, 3, -1, 64, 2], 'to have a slot from 0 to 2, got -1'],
      [[0, 127, 3, 2, 64, 2], 'to have a prefix within 0..128, got 127..'],
      [[0, -1, 3, 2, 64, 2], 'to have a prefix within 0..128, got -1..'],
      [[0, 0, -1, 2, 64, 2], 'to have a prefix within 0..128, got 0..-1'],
    ])('refuses the rows %j', (rows, message) => {
      expect(() => run('DecodeAttention', inputs({ rows: ints(rows, [2, 3]) }), heads)).toThrow(message);
    });

    it.each([
      ['v', [2, 3]],
      ['prefixV', [1, 64, 4]],
      ['ownV', [3, 1, 3, 4]],
      ['ownK', [3, 4]],
      ['rows', [2, 2]],
    ])('refuses %s of %j', (name, shape) => {
      const tensor = name === 'rows' ? ints([0, 0, 0, 0], shape) : tf.ones(shape);
      expect(() => run('DecodeAttention', inputs({ [name]: tensor }), heads)).toThrow(/^Expected decodeAttention's "/);
    });

    it.each([-1, 4])("refuses the place %d of a row's own cache for four", (place) => {
      expect(() => run('DecodeAttention', inputs({ positions: ints([5, 2 + place], [2]) }), heads)).toThrow(
        `"positions" to be within the row's own cache, 0 to 3, got ${place}`,
      );
    });

    it.each([
      [{ numHeads: 3, numKvHeads: 2 }, '"numHeads" to be a multiple of 2, got 3'],
      [{ numKvHeads: 0 }, '"numKvHeads" to be a whole number from 1 to 4096, got 0'],
    ])('refuses heads %o', (changes, message) => {
      expect(() => run('DecodeAttention', inputs(), { ...heads, ...changes })).toThrow(message);
    });
  });

  it('say what they take and what they were given where the names differ', () => {
    if (binding === null) throw new Error('Expected an addon');
    const x = { id: binding.createTensor([1], 1, Float32Array.of(1)) };
    expect(() => runKernel(binding, 'addInPlace', { target: x, y: x }, { scale: 1 })).toThrow(
      `Expected the arguments of the addon's kernel "addInPlace" (target, x, scale), got target, y, scale`,
    );
    expect(() => runKernel(binding, 'addInPlace', { target: x, x })).toThrow('got target, x');
    expect(() => runKernel(binding, 'addInPlace', { target: x }, { scale: 1 })).toThrow(
      `Expected addInPlace's "x" to be [1], got none`,
    );
  });

  it('are all there, or none is used: an addon of an earlier version lacks the newest', () => {
    if (binding === null) throw new Error('Expected an addon');
    const { packPrefix: _, ...kernelArguments } = binding.kernelArguments;
    const earlier = { kernelArguments } as KernelBinding;
    expect(hasKernels(earlier)).toBe(false);
    expect(() => runKernel(earlier, 'packPrefix', {})).toThrow(`the addon's kernel "packPrefix" (none)`);
  });

  it('refuse what no memory holds, and threads that no machine has', () => {
    expect(() => binding?.allocateTensor([2 ** 40, 2 ** 30], 1)).toThrow('Expected a shape that memory can hold');
    expect(() => binding?.allocateTensor([-1], 1)).toThrow('Expected a shape that memory can hold');
    expect(() => binding?.allocateTensor([2 ** 46], 1)).toThrow(
      'OOM when allocating a tensor of 281474976710656 bytes',
    );
    expect(() => binding?.growPool(0)).toThrow('Expected 1 to 1024 threads, got 0');
    expect(() => binding?.growPool(100_000)).toThrow('Expected 1 to 1024 threads, got 100000');
  });
});
