import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { notCarriedOver } from '../../main/services/trl/fields.ts';
import { parseConfig, type TrainConfig, trainConfigSchema } from '../../main/trainer/config/config.ts';
import { grpoLoss } from '../../main/trainer/losses/loss-op.ts';
import { openTestBackends } from '../backends.ts';
import { expectAllClose, expectClose, expectMetrics, type LoggedMetrics } from './closeness.ts';

/** See grpo.py. Matrices are [rows, columns], row after row. */
interface Fixture {
  readonly rows: number;
  readonly columns: number;
  readonly max_completion_length: number;
  readonly batches: readonly {
    readonly logps: number[];
    readonly old: number[];
    readonly ref: number[];
    readonly entropies: number[];
    readonly advantages: number[];
  }[];
  readonly cases: readonly LossCase[];
}
interface LossCase {
  readonly settings: Partial<TrainConfig>;
  readonly accumulation: number;
  readonly old: boolean;
  readonly items: number;
  readonly steps_per_generation: number;
  readonly results: readonly {
    readonly loss: number;
    readonly logps_grad: number[];
    readonly entropies_grad: number[] | null;
    readonly metrics: LoggedMetrics;
    readonly mask: number[];
  }[];
}

const file = new URL('./fixtures/grpo-losses.json', import.meta.url);
const fixture = JSON.parse(readFileSync(file, 'utf8')) as Fixture;

/** Loss, gradients and metrics of one micro-batch of a case, through the tensor op. */
function ours(reference: LossCase, index: number, mask: readonly number[]) {
  const config = parseConfig({ per_device_train_batch_size: 4, num_generations: 4, ...reference.settings });
  const batch = fixture.batches[index];
  if (batch === undefined) throw new Error(`Expected micro-batch ${index} in the fixture`);
  const shape: [number, number] = [fixture.rows, fixture.columns];
  let metrics = {};
  const { value, grads } = tf.valueAndGrads((logps, entropies) => {
    const result = grpoLoss(
      {
        logps: logps as tf.Tensor2D,
        entropies: entropies as tf.Tensor2D,
        oldLogps: reference.old ? batch.old : null,
        refLogps: config.beta === 0 ? null : batch.ref,
        advantages: batch.advantages,
        mask,
      },
      {
        maxCompletionLength: fixture.max_completion_length,
        numItemsInBatch: reference.items,
        gradientAccumulationSteps: reference.accumulation,
        stepsPerGeneration: reference.steps_per_generation,
      },
      config,
    );
    metrics = result.metrics;
    // Keeps the entropies on the tape where no bonus puts them there.
    return tf.add(result.loss, tf.mul(0, tf.sum(entropies)));
  })([tf.tensor2d(batch.logps, shape), tf.tensor2d(batch.entropies, shape)]);
  const [logpsGrad, entropiesGrad] = grads;
  return {
    loss: value.dataSync()[0],
    logpsGrad: logpsGrad?.dataSync(),
    entropiesGrad: entropiesGrad?.dataSync(),
    metrics,
  };
}

describe.each(await openTestBackends())('grpoLoss against TRL on $name', (backend) => {
  beforeAll(backend.use);

  it('is checked on every loss type but those that an export lists as missing in TRL', () => {
    expect(fixture.cases.length).toBeGreaterThanOrEqual(120);
    const compared = new Set(fixture.cases.map(({ settings }) => settings.loss_type));
    const types = trainConfigSchema.shape.loss_type.unwrap().options.filter((type) => !compared.has(type));
    expect(types.filter((loss_type) => notCarriedOver(parseConfig({ loss_type })).length === 0)).toEqual([]);
  });

  for (const reference of fixture.cases) {
    const { settings, accumulation, old } = reference;
    it(`${JSON.stringify(settings)}, ${accumulation} micro-batches, ${old ? 'old log-probabilities' : 'on-policy'}`, () => {
      for (const [index, theirs] of reference.results.entries()) {
        const result = ours(reference, index, theirs.mask);
        expectClose(result.loss, theirs.loss, 'loss');
        expectAllClose(result.logpsGrad, theirs.logps_grad, 'gradient of the log-probabilities');
        expectAllClose(
          result.entropiesGrad,
          theirs.entropies_grad ?? theirs.mask.map(() => 0),
          'gradient of the entropies',
        );
        expectMetrics(result.metrics, theirs.metrics);
      }
    });
  }
});
