/** Against transformers, PEFT and torch: see families.py, which made the folders and the values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, adapterParameters, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model, trainableParameters } from '../../main/model/model.ts';
import type { Parameter } from '../../main/model/parameter.ts';
import { loadAdapter } from '../../main/model/peft.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { disposeBatch, uploadGroups } from '../../main/trainer/batching/packed-batch.ts';
import { completionLogps, lossAndGradients } from '../../main/trainer/policy/policy.ts';
import { openTestBackends } from '../backends.ts';
import { greedyOptions, largestDifference } from './compare.ts';
import { mergeAdapter } from './merge-adapter.ts';

interface Gradient {
  readonly name: string;
  readonly norm: number;
  /** Its product with cos(0), cos(1), … */
  readonly wave: number;
}

interface Reference {
  readonly name: string;
  /** Tokens of a greedy completion. */
  readonly new?: number;
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly logps: readonly (readonly number[])[];
  readonly eos: readonly number[];
  readonly greedy: readonly (readonly number[])[];
  readonly gradients: readonly Gradient[];
  readonly adapter: { readonly logps: readonly (readonly number[])[]; readonly gradients: readonly Gradient[] };
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const references = JSON.parse(readFileSync(fixture('families.json'), 'utf8')) as readonly Reference[];
const backends = await openTestBackends();
/** Backends on which everything is a matter of seconds: what no kernel has a part in is shown on these. */
const QUICK = ['wasm', 'native'];
/** Cases with the layers of another and tables of their own, which are the same numbers on every backend. */
const TABLES = ['mistral', 'granite4-no-rope', 'qwen2-window', 'qwen3-yarn', 'llama-linear', 'phi3-longrope-beyond'];
/** Cases whose gradients plain JavaScript and a slow GPU compute, too: each kind of layer and norm is in one of them. */
const NEWEST = ['olmo3', 'ministral3', 'lfm2-bias', 'lfm3', 'qwen3.5', 'granite4', 'granite4-mamba', 'gemma4'];

describe.each(backends)('on $name', (backend) => {
  beforeAll(backend.use);

  const isQuick = QUICK.includes(backend.name);
  describe.each(references.filter(({ name }) => isQuick || !TABLES.includes(name)))('$name', (reference) => {
    const folder = fixture(`families/${reference.name}`);
    let model: Model;
    let adapter: Adapter;
    beforeAll(() => {
      model = loadModel(folder, 128);
      adapter = loadAdapter(join(folder, 'adapter'), model);
    });
    afterAll(() => {
      disposeAdapter(adapter);
      disposeModel(model);
    });

    // With these weights transformers' own float32 is up to 7e-4 off its float64, which gated delta layers make of rounding.
    const bound = reference.name === 'qwen3.5' ? 8e-4 : 1e-4;
    // States that other texts of a batch must not reach.
    const recurs = ['lfm2-bias', 'lfm3', 'qwen3.5', 'granite4-mamba'].includes(reference.name);
    // Half a minute in plain JavaScript, of ops that the other backends take too.
    const isLong = ['qwen3.5', 'granite4-mamba'].includes(reference.name) && backend.name === 'cpu';

    const items = reference.prompts.map((promptIds, i) => ({
      promptIds,
      completionIds: reference.completions[i] ?? [],
    }));

    it('gives the log-probabilities of transformers, packed and one by one', () => {
      expect(largestDifference(scoreCompletions(model, null, items), reference.logps)).toBeLessThan(bound);
      if (backend.slow || !(isQuick || recurs)) return;
      const single = items.flatMap((item) => scoreCompletions(model, null, [item], { maxTokens: 1 }));
      expect(largestDifference(single, reference.logps)).toBeLessThan(bound);
    });

    it.skipIf(backend.slow || !(isQuick || recurs))(
      'gives completions that share their prompt what they get alone',
      () => {
        const [promptIds] = reference.prompts.slice(-1) as [readonly number[]];
        const shared = reference.completions.map((completionIds) => ({ promptIds, completionIds }));
        const alone = shared.flatMap((item) => scoreCompletions(model, null, [item]));
        expect(largestDifference(scoreCompletions(model, null, shared), alone)).toBeLessThan(2e-5);
      },
    );

    it('generates greedily, through its cache, the tokens of transformers', () => {
      const before = tf.memory().numTensors;
      // Beyond windows of 16 either way, after prompts of up to 40.
      const most = isQuick ? reference.new : 18;
      const ours = generate(model, null, reference.prompts, greedyOptions(reference.eos, most));
      expect(ours.map(({ ids }) => ids)).toEqual(reference.greedy.map((ids) => ids.slice(0, most)));
      expect(tf.memory().numTensors).toBe(before);
    });

    const isSlow = backend.slow || backend.name === 'cpu';
    const hasGradients = !isSlow || (NEWEST.includes(reference.name) && !isLong);
    it.runIf(hasGradients)('has the gradients of torch', () => {
      const how = { items, checkpointing: false, expected: reference.gradients, loss: lossOf(reference.logps), bound };
      expectGradients(model, null, trainableParameters(model), how);
    });

    it.runIf(hasGradients)(
      'computes an adapter as PEFT does, with its gradients under checkpointing, and merged',
      () => {
        const { logps, gradients } = reference.adapter;
        if (!backend.slow)
          expect(largestDifference(scoreCompletions(model, adapter, items), logps)).toBeLessThan(bound);
        const how = { items, checkpointing: true, expected: gradients, loss: lossOf(logps), bound };
        expectGradients(model, adapter, adapterParameters(adapter), how);
        if (!isQuick) return;
        mergeAdapter(model, adapter);
        expect(largestDifference(scoreCompletions(model, null, items), logps)).toBeLessThan(bound);
        mergeAdapter(model, adapter, -1);
      },
    );
  });
});

function lossOf(logps: Reference['logps']): number {
  const all = logps.flat();
  return -all.reduce((sum, logp) => sum + logp, 0) / all.length;
}

/** Of minus the mean log-probability of all completion tokens. */
function expectGradients(
  model: Model,
  adapter: Adapter | null,
  parameters: readonly Parameter[],
  how: {
    readonly items: readonly { readonly promptIds: readonly number[]; readonly completionIds: readonly number[] }[];
    readonly checkpointing: boolean;
    readonly expected: readonly Gradient[];
    readonly loss: number;
    readonly bound: number;
  },
): void {
  const { items, checkpointing, expected } = how;
  const before = tf.memory().numTensors;
  const count = items.reduce((sum, { completionIds }) => sum + completionIds.length, 0);
  const batch = uploadGroups(
    items.map(({ promptIds, completionIds }) => ({ promptIds, completions: [completionIds] })),
  );
  const loss = (): tf.Scalar =>
    tf.tidy(() => {
      const { logps } = completionLogps({ model, adapter }, batch, 1, { checkpointing });
      return tf.div(tf.neg(tf.sum(logps)), count) as tf.Scalar;
    });
  const { value, grads } = lossAndGradients(loss, parameters);
  expect(Math.abs((value.dataSync()[0] ?? Number.NaN) - how.loss)).toBeLessThan(how.bound);
  const known = new Map(expected.map((each) => [each.name, each]));
  expect(parameters.map(({ name }) => name).sort()).toEqual([...known.keys()].sort());
  parameters.forEach(({ name }, i) => {
    const values = (grads[i] as tf.Tensor).dataSync<'float32'>();
    const { norm = Number.NaN, wave = Number.NaN } = known.get(name) ?? {};
    expect(Math.abs(Math.hypot(...values) - norm), name).toBeLessThan(1e-5 + 1e-4 * norm);
    const ours = values.reduce((sum, each, at) => sum + each * Math.cos(at), 0);
    // Of the first layer's decays transformers' own float32 is 0.8e-4 off its float64.
    const relative = name.includes('layers.0.linear_attn.in_proj_a') ? 2e-4 : 1e-4;
    expect(Math.abs(ours - wave), name).toBeLessThan(1e-5 + relative * norm);
  });
  tf.dispose([value, ...grads]);
  disposeBatch(batch);
  expect(tf.memory().numTensors).toBe(before);
}
