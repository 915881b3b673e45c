/** How much work is sent to the GPU: each dispatch costs microseconds whatever it does, so their number must not creep up. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { generate } from '../../../main/model/generate.ts';
import { randomModel } from '../../../main/model/load.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel, modelParameters } from '../../../main/model/model.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { disposeBatch, uploadGroups } from '../../../main/trainer/batching/packed-batch.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { AdamW } from '../../../main/trainer/optim/optimizer.ts';
import { completionLogps, lossAndGradients } from '../../../main/trainer/policy/policy.ts';
import { SMALL } from '../../small-config.ts';
import { opened, openGpuForTest } from './open.ts';

const gpu = await openGpuForTest();
const device = () => opened(gpu).gpu;

const config = (numLayers: number, changes: Partial<ModelConfig> = {}): ModelConfig => ({
  ...SMALL,
  numLayers,
  ...changes,
});
const LORA = {
  r: 8,
  alpha: 4,
  useRslora: false,
  targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

interface Pass {
  readonly lora: boolean;
  readonly checkpointing: boolean;
  /** Of the model's configuration. */
  readonly changes?: Partial<ModelConfig>;
}

/** Dispatches of a forward and backward pass, and of an update. */
function countTraining(
  layers: number,
  { lora, checkpointing, changes }: Pass,
): { pass: number; update: number; sent: number } {
  const model = randomModel(config(layers, changes), 3, 32);
  const adapter = lora ? createAdapter(model, LORA, 5) : null;
  const parameters = adapter === null ? modelParameters(model) : adapterParameters(adapter);
  const optimizer = new AdamW(parameters, parseConfig({}));
  const batch = uploadGroups([
    {
      promptIds: [5, 9, 33],
      completions: [
        [4, 5, 6],
        [7, 8],
      ],
    },
  ]);
  const start = device().counts.dispatches;
  const loss = (): tf.Scalar => tf.sum(completionLogps({ model, adapter }, batch, 1, { checkpointing }).logps);
  const { value, grads } = lossAndGradients(loss, parameters);
  const pass = device().counts.dispatches - start;
  optimizer.update(Object.fromEntries(parameters.map(({ name }, i) => [name, grads[i] as tf.Tensor])), 0.01);
  const update = device().counts.dispatches - start - pass;
  tf.dispose([value, ...grads]);
  optimizer.dispose();
  disposeBatch(batch);
  if (adapter !== null) disposeAdapter(adapter);
  disposeModel(model);
  return { pass, update, sent: parameters.length };
}

const RECURRENT: ModelConfig['recurrent'] = {
  mixer: 'gated-delta',
  layers: [0, 1, 2, 3],
  taps: 4,
  keyHeads: 2,
  keyDim: 8,
  valueHeads: 4,
  valueDim: 12,
};

describe.runIf(gpu !== null)('dispatches of training', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  // Forward a layer: 2 norms, 7 products, 2 rotations, attention, SwiGLU, 2 sums, and under an adapter 7 small products.
  it.each([
    ['adapters', { lora: true, checkpointing: false }, 70, 8],
    ['adapters, layers computed twice', { lora: true, checkpointing: true }, 92, 15],
    ['all weights', { lora: false, checkpointing: false }, 46, 21],
    ['all weights, layers computed twice', { lora: false, checkpointing: true }, 61, 21],
    ['layers that recur', { lora: false, checkpointing: false, changes: { recurrent: RECURRENT } }, 68, 21],
  ] as const)('stay within their limits for %s', (_, pass, perLayer, besides) => {
    const [two, four] = [countTraining(2, pass), countTraining(4, pass)];
    expect((four.pass - two.pass) / 2).toBeLessThanOrEqual(perLayer);
    expect(two.pass - (four.pass - two.pass)).toBeLessThanOrEqual(besides);
    // The norm of a gradient and its place in the list of norms, and the step itself; the factor that clips.
    expect(two.update).toBeLessThanOrEqual(3 * two.sent + 1);
  });

  it('leave none of an update for after the wait for its norm', () => {
    const optimizer = new AdamW([{ name: 'weight', value: tf.tensor1d([1, 2]) }], parseConfig({}));
    const { startRead } = device();
    let sent = 0;
    vi.spyOn(device(), 'startRead').mockImplementation((...read) => {
      const pending = startRead.apply(device(), read);
      return {
        ...pending,
        wait: () => {
          sent = device().counts.dispatches;
          return pending.wait();
        },
      };
    });
    const reads = device().counts.reads;
    expect(optimizer.update({ weight: tf.tensor1d([3, 4]) }, 0.01).gradNorm).toBe(5);
    expect(sent).toBe(device().counts.dispatches);
    expect(device().counts.reads - reads).toBe(1);
    vi.restoreAllMocks();
  });
});

describe.runIf(gpu !== null)('bytes of decoding', () => {
  it('read each weight once a token for all rows', async () => {
    const backend = opened(await openGpuForTest());
    // Wide enough that the weights are most of what there is.
    const wide = config(2, { hiddenSize: 256, intermediateSize: 512, vocabSize: 1024, headDim: 64 });
    const model = randomModel(wide, 3, 32);
    const weights = 4 * modelParameters(model).reduce((sum, { value }) => sum + value.size, 0);
    const { gpu: opened_ } = backend;
    const bytesOf = (maxNewTokens: number): number => {
      const before = opened_.counts.boundBytes;
      generate(model, null, [[5, 9, 33]], {
        numGenerations: 4,
        maxNewTokens,
        eosTokenIds: [],
        coordinates: [1],
        temperature: 1,
        topK: 0,
        topP: 1,
        minP: null,
        repetitionPenalty: 1,
      });
      return opened_.counts.boundBytes - before;
    };
    const token = bytesOf(6) - bytesOf(5);
    // The embedding's table is bound too, though only the rows of the tokens are read.
    expect(token / weights).toBeGreaterThan(1);
    // Matrix units take sixteen rows at once: what holds the rows is longer.
    expect(token / weights).toBeLessThan(opened_.matrixUnit === null ? 1.1 : 1.15);
    disposeModel(model);
    await closeWebGpuBackend(backend);
  });
});
