/** Every kernel that isn't one of our composite ops, forward and backward, against tfjs's plain backend. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { importFromCore } from '../../../main/tensor/gradients.ts';
import '../../../main/tensor/ops/geglu.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';

const gpu = await openGpuForTest();
// Training has the gradients of some ops; here those of all are compared.
await importFromCore(() => import('@tensorflow/tfjs-core/dist/register_all_gradients.js'));

interface Case {
  /** The kernel, which this case must have run. */
  readonly kernel: string;
  readonly run: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor;
  /** Where the op has a gradient. */
  readonly smooth?: boolean | 'equal shapes';
  /** Puts random numbers in ±1 where the op is defined. */
  readonly domain?: (x: tf.Tensor) => tf.Tensor;
}

const positive = (x: tf.Tensor): tf.Tensor => tf.add(tf.abs(x), 0.1);
const wide = (x: tf.Tensor): tf.Tensor => tf.mul(x, 30);
const integers = (x: tf.Tensor): tf.Tensor => tf.cast(tf.mul(x, 9), 'int32');

const smooth = (kernel: string, run: Case['run'], domain?: Case['domain']): Case => ({
  kernel,
  run,
  smooth: true,
  ...(domain && { domain }),
});
/** tfjs-core's gradients of these don't add up what was broadcast. */
const sameShape = (kernel: string, run: Case['run']): Case => ({ kernel, run, smooth: 'equal shapes' });
const rough = (kernel: string, run: Case['run'], domain?: Case['domain']): Case => ({
  kernel,
  run,
  ...(domain && { domain }),
});

const pieces = (x: tf.Tensor, y: tf.Tensor): tf.Tensor => {
  const [first, second] = tf.split(x, [2, 1], 1);
  return tf.add(tf.sum(tf.mul(first as tf.Tensor, 3)), tf.mul(second as tf.Tensor, tf.sum(y)));
};

const CASES: readonly Case[] = [
  ...[
    smooth('Neg', tf.neg),
    smooth('Abs', tf.abs),
    smooth('Exp', tf.exp),
    smooth('Expm1', tf.expm1),
    smooth('Log', tf.log, positive),
    smooth('Log1p', tf.log1p, positive),
    smooth('Sqrt', tf.sqrt, positive),
    smooth('Rsqrt', tf.rsqrt, positive),
    smooth('Square', tf.square),
    smooth('Reciprocal', tf.reciprocal, positive),
    smooth('Sigmoid', tf.sigmoid, wide),
    smooth('Tanh', tf.tanh, wide),
    smooth('Relu', tf.relu),
    rough('Step', (x) => tf.step(x, -0.25)),
    smooth('Sin', tf.sin, wide),
    smooth('Cos', tf.cos, wide),
    rough('Floor', tf.floor, wide),
    rough('Ceil', tf.ceil, wide),
    rough('Round', tf.round, wide),
    rough('Sign', tf.sign),
    smooth('Erf', tf.erf),
  ],
  ...[
    smooth('Add', (x, y) => tf.add(x, y)),
    smooth('Sub', (x, y) => tf.sub(x, y)),
    smooth('Multiply', (x, y) => tf.mul(x, y)),
    smooth('RealDiv', (x, y) => tf.div(x, y), positive),
    sameShape('Maximum', (x, y) => tf.maximum(x, y)),
    sameShape('Minimum', (x, y) => tf.minimum(x, y)),
    sameShape('SquaredDifference', (x, y) => tf.squaredDifference(x, y)),
    smooth('Pow', (x, y) => tf.pow(x, y), positive),
    rough('FloorDiv', (x, y) => tf.floorDiv(x, tf.add(tf.abs(y), 1)), integers),
    rough('Mod', (x, y) => tf.mod(x, tf.add(tf.abs(y), 1)), integers),
    rough('Greater', (x, y) => tf.greater(x, y)),
    rough('GreaterEqual', (x, y) => tf.greaterEqual(x, y), integers),
    rough('Less', (x, y) => tf.less(x, y)),
    rough('LessEqual', (x, y) => tf.lessEqual(x, y), integers),
    rough('Equal', (x, y) => tf.equal(x, y), integers),
    rough('NotEqual', (x, y) => tf.notEqual(x, y), integers),
    rough('LogicalAnd', (x, y) => tf.logicalAnd(tf.greater(x, 0), tf.greater(y, 0))),
    rough('LogicalOr', (x, y) => tf.logicalOr(tf.greater(x, 0), tf.greater(y, 0))),
    rough('LogicalNot', (x) => tf.logicalNot(tf.greater(x, 0))),
  ],
  ...[
    rough('Cast', (x) => tf.cast(tf.cast(tf.mul(x, 9), 'int32'), 'float32')),
    rough('Fill', (x) => tf.mul(x, tf.fill([2, 3, 5], 1.5))),
    rough('ZerosLike', (x) => tf.add(x, tf.zerosLike(x))),
    rough('OnesLike', (x) => tf.add(x, tf.onesLike(x))),
    smooth('ClipByValue', (x) => tf.clipByValue(x, -0.4, 0.3)),
    smooth('Select', (x, y) => tf.where(tf.greater(randomTensor([2, 3, 5], 7), 0), x, tf.add(x, y))),
  ],
  ...[
    smooth('Identity', (x) => tf.mul(tf.clone(x), x)),
    smooth('Reshape', (x) => tf.mul(tf.reshape(x, [6, 5]), tf.reshape(x, [6, 5]))),
    smooth('ExpandDims', (x) => tf.expandDims(x, 1)),
    smooth('Transpose', (x) => tf.transpose(x, [2, 0, 1])),
    smooth('Slice', (x) => tf.slice(x, [0, 1, 2], [2, 2, 3])),
    smooth('Concat', (x, y) => tf.concat([x, tf.mul(y, tf.ones([2, 3, 5]))], 2)),
    smooth('Pack', (x) => tf.stack([x, tf.mul(x, 2)], 1)),
    smooth('Unpack', (x) => tf.add(tf.unstack(x, 2)[1] as tf.Tensor, tf.unstack(x, 2)[4] as tf.Tensor)),
    smooth('SplitV', pieces),
    smooth('PadV2', (x) =>
      tf.pad(
        x,
        [
          [0, 1],
          [2, 0],
          [1, 1],
        ],
        7,
      ),
    ),
    smooth('Tile', (x) => tf.tile(x, [2, 1, 3])),
    rough('Range', (x) => tf.add(x, tf.range(0, 5))),
    smooth('GatherV2', (x) => tf.gather(x, tf.tensor1d([2, 0, 2], 'int32'), 1)),
    rough('UnsortedSegmentSum', (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 1], 'int32'), 3)),
  ],
  ...[
    smooth('Sum', (x) => tf.sum(x, 1)),
    smooth('Sum', (x) => tf.sum(x, [0, 2], true)),
    smooth('Mean', (x) => tf.mean(x, 0)),
    smooth('Max', (x) => tf.max(x, 2)),
    smooth('Min', (x) => tf.min(x, 1)),
    rough('Prod', (x) => tf.prod(x, 2)),
    rough('All', (x) => tf.all(tf.greater(x, -0.8), 2)),
    rough('Any', (x) => tf.any(tf.greater(x, 0.8), 1)),
    rough('ArgMax', (x) => tf.argMax(x, 1)),
    rough('ArgMin', (x) => tf.argMin(x, 2)),
  ],
  ...[
    smooth('BatchMatMul', (x, y) => tf.matMul(tf.mul(x, y) as tf.Tensor3D, x as tf.Tensor3D, true, false)),
    rough('_FusedMatMul', (x) =>
      tf.fused.matMul({
        a: tf.reshape(x, [6, 5]) as tf.Tensor2D,
        b: tf.reshape(x, [5, 6]) as tf.Tensor2D,
        bias: tf.tensor1d([1, 2, 3, 4, 5, 6]),
        activation: 'relu',
      }),
    ),
  ],
];

/** Composite ops, which have suites of their own, and what works in place (tests/trainer/optim/optimizer.test.ts). */
const ELSEWHERE = [
  ...['RmsNorm', 'RmsNormGradX', 'RmsNormGradWeight', 'Rope', 'GatherRows', 'ScatterAddRows', 'SwiGlu', 'SwiGluGrad'],
  ...['GeGlu', 'GeGluGrad', 'PackedAttention', 'PackedAttentionGrad', 'SelectiveLogSoftmax', 'SelectiveLogSoftmaxGrad'],
  ...[
    'SampleRows',
    'SampleFiltered',
    'RepetitionPenalty',
    'LoraLinear',
    'LoraLinearGradLow',
    'LoraLinearGradX',
    'LoraLinearGradAdapter',
    'AdamW',
    'AddInPlace',
    'ClippingFactor',
    'SumSquares',
    'CausalConvolution',
    'CausalConvolutionGrad',
    'CausalConvolutionStep',
    'GatedDelta',
    'GatedDeltaGrad',
    'GatedDeltaStep',
    'StateSpaceStep',
  ],
];

/** Values and gradients of a case on a backend, of the same random numbers. */
async function outcome({ run, smooth, domain }: Case, shape: number[], backend: string): Promise<readonly number[][]> {
  await tf.setBackend(backend);
  return tf.tidy(() => {
    const inputs = [randomTensor([2, 3, 5], 1), randomTensor(shape as [number], 2)].map((x) => domain?.(x) ?? x);
    const out = run(inputs[0] as tf.Tensor, inputs[1] as tf.Tensor);
    const weighed = (x: tf.Tensor, y: tf.Tensor): tf.Scalar => {
      const result = run(x, y);
      return tf.sum(tf.mul(result, randomTensor(result.shape as [number], 3)));
    };
    // An op of one tensor has none for the other: the sum of both keeps it on the tape.
    const kept = (x: tf.Tensor, y: tf.Tensor): tf.Scalar => tf.add(weighed(x, y), tf.mul(0, tf.sum(y)));
    const gradients = smooth === true || (smooth && shape.length === 3) ? tf.grads(kept)(inputs) : [];
    return [[...out.shape], ...[out, ...gradients].map((tensor) => Array.from(tensor.dataSync<'float32'>()))];
  });
}

describe.runIf(gpu !== null)('plain ops on webgpu', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  for (const [name, shape] of [
    ['equal shapes', [2, 3, 5]],
    ['a row', [5]],
    ['a column', [3, 1]],
    ['a number', []],
  ] as const)
    it.each(CASES)(`has the numbers of the plain backend with ${name}: $kernel`, async (each) => {
      const expected = await outcome(each, [...shape], 'cpu');
      const found = await outcome(each, [...shape], WEBGPU_BACKEND);
      expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
      found.flat().forEach((value, i) => {
        const wanted = expected.flat()[i] ?? Number.NaN;
        expect(Math.abs(value - wanted), `${value} where ${wanted} is right`).toBeLessThan(
          2e-6 + 1e-5 * Math.abs(wanted),
        );
      });
    });

  it('are all compared here or with the composite ops', () => {
    const registered = tf.getKernelsForBackend(WEBGPU_BACKEND).map(({ kernelName }) => kernelName);
    const known = [...CASES.map(({ kernel }) => kernel), ...ELSEWHERE];
    expect([...new Set(known)].sort()).toEqual([...registered].sort());
  });

  it('are what their cases ran', async () => {
    await tf.setBackend(WEBGPU_BACKEND);
    const runKernel = vi.spyOn(tf.engine(), 'runKernel');
    for (const { kernel, run, domain } of CASES) {
      runKernel.mockClear();
      tf.tidy(() => {
        const x = randomTensor([2, 3, 5], 1);
        run(domain?.(x) ?? x, domain?.(x) ?? x);
      });
      expect(
        runKernel.mock.calls.map(([name]) => name),
        kernel,
      ).toContain(kernel);
    }
    runKernel.mockRestore();
  });
});
