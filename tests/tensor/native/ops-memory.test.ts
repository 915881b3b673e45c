/** What the native backend's kernels of TensorFlow's own ops hold at a time, counted with the processor's TensorFlow. */
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { NativeBackend, NativeBinding } from '../../../main/tensor/native/binding.ts';
import { registerAttention } from '../../../main/tensor/native/kernels/attention.ts';
import { SCORES_AT_ONCE } from '../../../main/tensor/native/kernels/attention-plan.ts';
import type { NativeKernel } from '../../../main/tensor/native/kernels/kernel.ts';
import { crossEntropyByParts, registerLogSoftmax } from '../../../main/tensor/native/kernels/log-softmax.ts';
import { openNativeBackend } from '../../../main/tensor/native/open.ts';
import { type Handle, INT32, type Ops, toTensor, typeAttr, withOps } from '../../../main/tensor/native/ops.ts';
import { nativeUnderTest } from '../../native-under-test.ts';

/** A binding that counts what lives; views share the memory of what they are made of. */
function counted(binding: NativeBinding) {
  const memoryOf = new Map<number, { floats: number; views: number }>();
  const live = { floats: 0, peak: 0 };
  const add = (id: number, floats: number): void => {
    memoryOf.set(id, { floats, views: 1 });
    live.floats += floats;
    live.peak = Math.max(live.peak, live.floats);
  };
  const size = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
  const counting: Partial<NativeBinding> = {
    createTensor: (shape, dtype, values) => {
      const id = binding.createTensor(shape, dtype, values);
      add(id, size(shape));
      return id;
    },
    executeOp: (name, attrs, inputs, outputs) => {
      const made = binding.executeOp(name, attrs, inputs, outputs);
      for (const { id, shape } of made) {
        const shared = name === 'Reshape' ? memoryOf.get(inputs[0] ?? -1) : undefined;
        if (shared === undefined) add(id, size(shape));
        else {
          shared.views++;
          memoryOf.set(id, shared);
        }
      }
      return made;
    },
    deleteTensor: (id) => {
      const memory = memoryOf.get(id);
      if (memory !== undefined && --memory.views === 0) live.floats -= memory.floats;
      memoryOf.delete(id);
      binding.deleteTensor(id);
    },
  };
  return { live, binding: { ...binding, ...counting } };
}

describe.runIf(nativeUnderTest)("TensorFlow's own ops", async () => {
  const opened = nativeUnderTest === null ? null : await openNativeBackend(2, nativeUnderTest);
  if (opened !== null && !opened.ok) throw new Error(opened.problem.detail);
  const backend = opened?.backend as NativeBackend;
  const kernels = new Map<string, NativeKernel<unknown>>();
  const register = (name: string, kernel: unknown): void => void kernels.set(name, kernel as NativeKernel<unknown>);
  registerAttention(register);
  registerLogSoftmax(register);

  /** Runs a kernel; gives its outputs and the most floats that it held at a time. */
  function run(name: string, inputs: Readonly<Record<string, tf.Tensor>>, attrs: unknown) {
    const { live, binding } = counted(backend.binding);
    const outputs = withOps({ ...backend, binding, tensorMap: backend.tensorMap } as NativeBackend, (ops) => {
      const info = (key: string): tf.Tensor => inputs[key] as tf.Tensor;
      const own: Ops = { ...ops, backend };
      const found = kernels.get(name)?.(own, { info, handle: (key) => own.of(info(key)) }, attrs) ?? [];
      return [found].flat().map((handle) => toTensor(backend, ops.keep(handle as Handle)));
    });
    return { peak: live.peak, outputs: outputs.map((one) => tf.engine().makeTensorFromTensorInfo(one)) };
  }

  it('attention holds the scores of a block only as often as the plan says', () => {
    // 4 completions of 160 tokens, with 6 heads of 2,400 keys or so each.
    const [prompt, own, group, heads, d] = [900, 160, 4, 6, 8];
    const n = prompt + group * own;
    const shape = { numHeads: heads, numKvHeads: 2, headDim: d, scale: 0.3 };
    const rows = Array.from({ length: group }, (_, g) => [prompt + g * own, own, 0, prompt]);
    const segments = tf.tensor2d([[0, prompt, 0, 0], ...rows], [group + 1, 4], 'int32');
    const [q, k, v, dy] = [heads, 2, 2, heads].map((many, i) => tf.randomUniform([n, many * d], -1, 1, 'float32', i));
    const given = { q, k, v, segments } as Record<string, tf.Tensor>;
    const forward = run('PackedAttention', given, shape);
    const scores = heads * Math.max(prompt ** 2, group * own * (prompt + own));
    expect(forward.peak).toBeGreaterThan(2 * scores);
    expect(forward.peak).toBeLessThan(2.4 * scores);
    const [out] = forward.outputs;
    const back = run('PackedAttentionGrad', { ...given, dy, out } as Record<string, tf.Tensor>, shape);
    expect(back.peak).toBeGreaterThan((SCORES_AT_ONCE - 0.5) * scores);
    expect(back.peak).toBeLessThan((SCORES_AT_ONCE + 0.5) * scores);
  });

  it("log-softmax lets a chunk's logits go before the next", () => {
    const [n, d, vocabulary] = [520, 4, 65_536];
    const chunk = 2 ** 24;
    const inputs = {
      hidden: tf.randomUniform([n, d], -1, 1, 'float32', 1),
      weight: tf.randomUniform([vocabulary, d], -1, 1, 'float32', 2),
      targets: tf.range(0, n, 1, 'int32'),
    };
    // Logits and their loss's gradient of one chunk; three chunks in all.
    expect(run('SelectiveLogSoftmax', inputs, { temperature: 1 }).peak).toBeLessThan(2.5 * chunk);
  });

  it('cross entropy by parts is the fused op', () => {
    withOps(backend, (ops) => {
      const logits = ops.floats(
        Float32Array.from({ length: 12 }, (_, i) => Math.sin(7 * i) * 4),
        [3, 4],
      );
      const labels = ops.ints([1, 0, 3]);
      const attrs = [typeAttr(backend, 'T', 1), typeAttr(backend, 'Tlabels', INT32)];
      const fused = ops.runMany('SparseSoftmaxCrossEntropyWithLogits', [logits, labels], attrs, 2);
      const parts = crossEntropyByParts(ops, logits, labels);
      for (const [i, part] of [parts.loss, parts.dLoss].entries()) {
        const expected = backend.binding.tensorDataSync(fused[i]?.id ?? -1);
        const got = backend.binding.tensorDataSync(part.id);
        expect(got.length).toBe(expected.length);
        got.forEach((value, at) => void expect(value).toBeCloseTo(expected[at] as number, 5));
      }
    });
  });
});
