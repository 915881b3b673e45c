/** Against torch.optim.AdamW, clip_grad_norm_ and transformers' schedules: see optimizer.py. */
import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Parameter } from '../../main/model/parameter.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { AdamW, takesDecay } from '../../main/trainer/optim/optimizer.ts';
import { learningRate } from '../../main/trainer/optim/schedule.ts';
import { openTestBackends } from '../backends.ts';
import { expectAllClose, expectClose } from './closeness.ts';

type Values = Readonly<Record<string, number[]>>;

interface Fixture {
  readonly runs: readonly {
    readonly settings: Partial<TrainConfig>;
    readonly start: Values;
    readonly steps: readonly {
      readonly gradients: Values;
      readonly norm: number | null;
      readonly rate: number;
      readonly parameters: Values;
    }[];
    readonly state: Readonly<Record<string, { readonly exp_avg: number[]; readonly exp_avg_sq: number[] }>>;
  }[];
  readonly schedules: readonly {
    readonly kind: TrainConfig['lr_scheduler_type'];
    readonly warmup: number;
    readonly total: number;
    readonly rates: number[];
  }[];
  readonly decay: Readonly<Record<string, boolean>>;
}

const file = new URL('./fixtures/optimizer.json', import.meta.url);
const fixture = JSON.parse(readFileSync(file, 'utf8')) as Fixture;
const backends = await openTestBackends();

const tensors = (values: Values): Record<string, tf.Tensor> =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, tf.tensor1d(list)]));

describe.each(backends)('AdamW on $name', (backend) => {
  beforeAll(backend.use);

  it.each(fixture.runs.map((run) => [JSON.stringify(run.settings), run] as const))('%s', async (_, run) => {
    const config = parseConfig({ ...run.settings, max_steps: run.steps.length });
    const parameters: Parameter[] = Object.entries(tensors(run.start)).map(([name, value]) => ({ name, value }));
    const optimizer = new AdamW(parameters, config);
    for (const [step, theirs] of run.steps.entries()) {
      const rate = learningRate(config, step);
      expectClose(rate / theirs.rate || 1, 1, `learning rate of step ${step}`);
      const { gradNorm } = optimizer.update(tensors(theirs.gradients), rate);
      if (theirs.norm !== null) expectClose(gradNorm, theirs.norm, `norm of step ${step}`);
      for (const { name, value } of parameters) {
        expectAllClose(value.dataSync(), theirs.parameters[name] ?? [], `${name} after step ${step}`);
      }
    }
    const state = await optimizer.exportState();
    for (const [name, { exp_avg, exp_avg_sq }] of Object.entries(run.state)) {
      expectAllClose(state[`exp_avg.${name}`], exp_avg, `exp_avg of ${name}`);
      expectAllClose(state[`exp_avg_sq.${name}`], exp_avg_sq, `exp_avg_sq of ${name}`);
    }
    expect(state.step).toEqual(Float32Array.of(run.steps.length));
  });
});

describe('learningRate against transformers', () => {
  it.each(fixture.schedules.map((s) => [`${s.kind}, ${s.warmup} of ${s.total} steps`, s] as const))(
    '%s',
    (_, schedule) => {
      const config = parseConfig({
        learning_rate: 3e-4,
        lr_scheduler_type: schedule.kind,
        warmup_steps: schedule.warmup,
        max_steps: schedule.total,
      });
      const ours = schedule.rates.map((_rate, step) => learningRate(config, step) / 3e-4);
      expectAllClose(
        ours,
        schedule.rates.map((rate) => rate / 3e-4),
        'rates',
        1e-12,
      );
    },
  );
});

describe('takesDecay against transformers', () => {
  it('agrees on every parameter of Llama and Qwen3', () => {
    const names = Object.keys(fixture.decay);
    expect(names.length).toBeGreaterThan(15);
    expect(Object.fromEntries(names.map((name) => [name, takesDecay(name)]))).toEqual(fixture.decay);
  });
});
