/** Job: whether a remote engine answers, which models it has, and how long a sampled group and a step take there. */
import { BraidError } from '../../errors.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import { checkedPass, checkedSamples } from '../tinker/checks.ts';
import { openClient } from '../tinker/client.ts';
import type { GradientRule } from '../tinker/gradient-rule.ts';
import { weightsFor } from '../tinker/gradient-rule.ts';
import { PATIENCE } from '../tinker/http.ts';
import { gradNormOf, measureRule, optimStep } from '../tinker/probe.ts';
import { createModel } from '../tinker/remote-model.ts';
import { datum, passSchema, sampledSchema, savedSchema, wireTokens } from '../tinker/wire.ts';
import type { JobIo } from './job-io.ts';

export interface EngineTestJob extends BackendChoice {
  readonly kind: 'engine-test';
  readonly engine: RemoteEngine;
}

export interface EngineTestResult {
  /** Names of the server's models; empty: it doesn't list them. */
  readonly models: readonly string[];
  readonly rule: GradientRule;
  /** Whether a step reports its gradient norm. */
  readonly reportsNorm: boolean;
  /** Of the one group: completions, tokens, seconds. */
  readonly completions: number;
  readonly tokens: number;
  readonly sampleSeconds: number;
  /** A pass over that group with its step, once the server has compiled it. */
  readonly stepSeconds: number;
}

const RANK = 8;
const GROUP = 4;
const TOKENS = 16;
const PARTS = 4;
/** Ids that every vocabulary has; which text they are doesn't matter. */
const PROMPT = [5, 6, 7, 8];
/** Less than any model's. */
const SMALL_VOCABULARY = 16;
/** Any id is a good one: the test has no tokenizer. */
const ANY = { vocabSize: Number.MAX_SAFE_INTEGER, eosTokenIds: [] };

/** For a connection, not for an answer: a server that is just starting may take its time. */
const REACH_MS = 5000;

/** Everything that a run would ask for, once. */
export async function runEngineTestJob({ engine }: EngineTestJob, io: JobIo): Promise<EngineTestResult> {
  const models = await reach(engine);
  const client = openClient(engine);
  try {
    await io.progress(1, PARTS, 'checks');
    const adapter = { baseModel: engine.baseModel, rank: RANK, seed: 1 };
    const model = await createModel(client, await client.begin(), adapter);
    const rule = await measureRule(model, SMALL_VOCABULARY);
    await io.progress(2, PARTS, 'checks');
    const { value: sampler } = await model.call('save_weights_for_sampler', { path: 'test' }, savedSchema);
    const began = performance.now();
    const { value } = await client.call(
      'asample',
      {
        type: 'sample',
        prompt: wireTokens(PROMPT),
        num_samples: GROUP,
        sampling_params: { max_tokens: TOKENS, temperature: 1, top_p: 1, top_k: -1, seed: 1 },
        model_path: sampler.path,
      },
      sampledSchema,
    );
    const sampleSeconds = (performance.now() - began) / 1000;
    const group = checkedSamples(withoutStops(value), { samples: GROUP, maxTokens: TOKENS, ...ANY });
    await io.progress(3, PARTS, 'checks');
    const step = async (): Promise<{ readonly seconds: number; readonly norm: number }> => {
      const start = performance.now();
      const data = group.map(({ ids }) =>
        datum(
          PROMPT,
          ids,
          weightsFor(
            rule,
            ids.map(() => -1 / TOKENS),
            GROUP,
          ),
        ),
      );
      const input = { forward_backward_input: { data, loss_fn: 'cross_entropy' } };
      const { value: pass } = await model.call('forward_backward', input, passSchema);
      checkedPass(
        'forward_backward',
        pass,
        group.map(({ ids }) => ({ prompt: PROMPT.length, completion: ids.length })),
      );
      const norm = gradNormOf(await optimStep(model, { learning_rate: 0 })) ?? Number.NaN;
      return { seconds: (performance.now() - start) / 1000, norm };
    };
    await step();
    const { seconds: stepSeconds, norm } = await step();
    await model.unload();
    await io.progress(PARTS, PARTS, 'checks');
    const tokens = group.reduce((sum, { ids }) => sum + ids.length, 0);
    return { models, rule, reportsNorm: Number.isFinite(norm), completions: GROUP, tokens, sampleSeconds, stepSeconds };
  } finally {
    client.close();
  }
}

/** The server's models. Somebody waits for this: an address where nothing listens is tried for seconds only. */
async function reach(engine: RemoteEngine): Promise<readonly string[]> {
  const client = openClient(engine, { ...PATIENCE, totalMs: REACH_MS });
  try {
    return await client.models();
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'ENGINE_UNREACHABLE') throw error;
    const remedy = 'Check that the server runs and the address is right, then test again.';
    throw new BraidError(error.code, error.message, { cause: error, remedy });
  } finally {
    client.close();
  }
}

/** The server may know end tokens that the test doesn't. */
function withoutStops<T extends { readonly sequences: readonly object[] }>(value: T): T {
  return { ...value, sequences: value.sequences.map((one) => ({ ...one, stop_reason: 'length' })) };
}
