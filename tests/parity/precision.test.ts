/** How far log-probabilities move when frozen weights are kept in fewer bits, against transformers in float32. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel } from '../../main/model/model.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { setComputeDtype, whyNoBfloat16 } from '../../main/tensor/compute-dtype.ts';
import type { WeightPrecision } from '../../main/tensor/weights.ts';
import { openTestBackends } from '../backends.ts';
import { largestDifference } from './compare.ts';

interface Reference {
  readonly name: string;
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly logps: readonly (readonly number[])[];
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const NAMES = ['llama-untied-f32', 'llama-tied-llama3-bf16-sharded', 'qwen3-untied-f16-sharded'];
const references = (JSON.parse(readFileSync(fixture('models.json'), 'utf8')) as readonly Reference[]).filter(
  ({ name }) => NAMES.includes(name),
);
const BUNDLED = fileURLToPath(new URL('../../resources/models/tiny', import.meta.url));
const backends = await openTestBackends();

/** In nats: the largest difference of a token's log-probability that is allowed, and the mean one. */
type Bounds = readonly (readonly [WeightPrecision, largest: number, mean: number])[];

/**
 * Of random models with wide weights, whose distributions are sharp: the hardest case for rounding. The 16 bits that a
 * file has already change nothing; a float32 one in bfloat16 loses 16 of 24 bits.
 */
const RANDOM: Bounds = [
  ['stored', 1e-4, 1e-5],
  ['bfloat16', 0.3, 0.08],
  ['int8', 1, 0.2],
  ['nf4', 12, 3],
];

/** Of the bundled model, which was trained, on what it samples itself; against float32. */
const TRAINED: Bounds = [
  ['stored', 1e-4, 1e-5],
  ['bfloat16', 1e-4, 1e-5],
  ['int8', 0.4, 0.04],
  ['nf4', 6, 0.8],
];

/** Native and wasm make bfloat16 of the file's float16, which has three bits more; webgpu keeps what the file has. */
const ROUNDED: Bounds = TRAINED.map((bound) => (bound[0] === 'bfloat16' ? ['bfloat16', 0.15, 0.02] : bound));

/** Products computed in bfloat16 stay within the bounds of weights in bfloat16. */
const COMPUTED = { random: [0.3, 0.08], trained: [0.15, 0.02] } as const;

type Items = Pick<Reference, 'prompts' | 'completions'>;

function scored(folder: string, { prompts, completions }: Items, precision: WeightPrecision): Float32Array[] {
  const model = loadModel(folder, 128, precision);
  const items = prompts.map((promptIds, i) => ({ promptIds, completionIds: completions[i] ?? [] }));
  const logps = scoreCompletions(model, null, items).map((row) => Float32Array.from(row));
  disposeModel(model);
  return logps;
}

/** Sampled once: tokens can be those of any backend. */
let items: Items | null = null;
function sampled(): Items {
  items ??= sample();
  return items;
}

/** Beginnings of texts, and what the bundled model itself samples after them: what GRPO scores. */
function sample(): Items {
  const texts = JSON.parse(readFileSync(new URL('../../datasets/source_texts.json', import.meta.url), 'utf8')) as {
    readonly text: string;
  }[];
  const tokenizer = loadTokenizer(BUNDLED);
  const prompts = texts.slice(0, 12).map(({ text }) => tokenizer.encode(text).slice(0, 24));
  const model = loadModel(BUNDLED, 64);
  const options = { numGenerations: 1, maxNewTokens: 24, eosTokenIds: [], coordinates: [1], temperature: 1 };
  const completions = generate(model, null, prompts, {
    ...options,
    topK: 0,
    topP: 1,
    minP: null,
    repetitionPenalty: 1,
  });
  disposeModel(model);
  return { prompts, completions: completions.map(({ ids }) => ids) };
}

/** The same numbers serve every backend. */
const unpackedScores = new Map<string, Float32Array[]>();
async function unpacked(reference: Reference, kind: WeightPrecision): Promise<Float32Array[]> {
  const key = `${reference.name} ${kind}`;
  let scores = unpackedScores.get(key);
  if (scores === undefined) {
    await tf.setBackend('cpu');
    scores = scored(fixture(`models/${reference.name}`), reference, kind);
    unpackedScores.set(key, scores);
  }
  return scores;
}

function meanDifference(ours: readonly ArrayLike<number>[], theirs: readonly ArrayLike<number>[]): number {
  const all = ours.flatMap((row, r) => Array.from(row, (x, i) => Math.abs(x - (theirs[r]?.[i] ?? Number.NaN))));
  return all.reduce((sum, x) => sum + x, 0) / all.length;
}

describe.each(backends)('log-probabilities on $name', (backend) => {
  beforeAll(backend.use);
  let exact: Float32Array[] | null = null;
  /** Fewer of them where a GPU is played by the processor. */
  const own = (): Items => {
    const { prompts, completions } = sampled();
    const most = backend.slow ? 4 : prompts.length;
    return { prompts: prompts.slice(0, most), completions: completions.slice(0, most) };
  };

  it.each(RANDOM)('are within their bounds of transformers with weights in %s', (precision, largest, mean) => {
    for (const reference of references) {
      const ours = scored(fixture(`models/${reference.name}`), reference, precision);
      expect(largestDifference(ours, reference.logps), reference.name).toBeLessThan(largest);
      expect(meanDifference(ours, reference.logps), reference.name).toBeLessThan(mean);
    }
  });

  // Plain JavaScript takes half a minute for it and packs weights by the same code as wasm.
  it.skipIf(backend.name === 'cpu').each(backend.name === 'webgpu' ? TRAINED : ROUNDED)(
    'of the bundled model are within their bounds of float32 with weights in %s',
    (precision, largest, mean) => {
      exact ??= scored(BUNDLED, own(), 'float32');
      const ours = scored(BUNDLED, own(), precision);
      expect(largestDifference(ours, exact)).toBeLessThan(largest);
      expect(meanDifference(ours, exact)).toBeLessThan(mean);
    },
  );

  describe('computed in bfloat16', () => {
    afterEach(() => setComputeDtype('float32'));

    it('are within their bounds of transformers and of float32, where the backend has it', (context) => {
      if (whyNoBfloat16() !== null) return context.skip();
      setComputeDtype('bfloat16');
      for (const reference of references) {
        const ours = scored(fixture(`models/${reference.name}`), reference, 'bfloat16');
        expect(largestDifference(ours, reference.logps), reference.name).toBeLessThan(COMPUTED.random[0]);
        expect(meanDifference(ours, reference.logps), reference.name).toBeLessThan(COMPUTED.random[1]);
      }
      const ours = scored(BUNDLED, own(), 'bfloat16');
      setComputeDtype('float32');
      exact ??= scored(BUNDLED, own(), 'float32');
      expect(largestDifference(ours, exact)).toBeLessThan(COMPUTED.trained[0]);
      expect(meanDifference(ours, exact)).toBeLessThan(COMPUTED.trained[1]);
    });
  });

  // Plain JavaScript unpacks them, and is what the others are held to.
  it.skipIf(backend.name === 'cpu').each(['int8', 'nf4'] as const)(
    'with weights in %s are those of the unpacked numbers in float32',
    async (kind) => {
      for (const reference of references) {
        const ours = scored(fixture(`models/${reference.name}`), reference, kind);
        const theirs = await unpacked(reference, kind);
        await backend.use();
        expect(largestDifference(ours, theirs), reference.name).toBeLessThan(1e-4);
      }
    },
  );
});
