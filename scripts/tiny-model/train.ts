/**
 * Trains the bundled tiny model from random weights with this project's own supervised step, and writes it to
 * resources/models/tiny. `node scripts/tiny-model/train.ts [--out DIR] [--resume]`; about 45 minutes on two cores.
 *
 * It learns to copy words and five ways of combining two texts. A tag at the end of a prompt names the way; without a
 * tag (the "process" prompt) it has a preference that is mostly wrong, so GRPO finds something to select.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseModelConfig } from '../../main/model/config.ts';
import { encodeModel } from '../../main/model/export.ts';
import { generate } from '../../main/model/generate.ts';
import { loadModel, randomModel } from '../../main/model/load.ts';
import { disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import type { PromptGroup } from '../../main/model/pack.ts';
import { encodeSafetensors, openSafetensors } from '../../main/model/safetensors.ts';
import { loadTokenizer, type Tokenizer } from '../../main/model/tokenizer.ts';
import { randomStream } from '../../main/random.ts';
import { readCorpus } from '../../main/services/corpora.ts';
import { generateDataset } from '../../main/services/datasets.ts';
import type { InterleaveRecord } from '../../main/tasks/interleave/record.ts';
import { alignmentReward } from '../../main/tasks/interleave/reward.ts';
import { openBackend } from '../../main/trainer/backend.ts';
import { parseConfig } from '../../main/trainer/config.ts';
import { AdamW } from '../../main/trainer/optimizer.ts';
import { sftStep } from '../../main/trainer/sft.ts';
import { type SyntheticOptions, syntheticSequence } from './synthetic.ts';
import { EOS, TAGS, tokenizerFiles, VOCABULARY_SIZE } from './tokenizer.ts';

/** A stretch of training. Lengths are words a fragment; the learning rate follows half a cosine. */
interface Phase extends SyntheticOptions {
  readonly steps: number;
  readonly tokens: number;
  readonly learningRate: readonly [from: number, to: number];
  /** [least, most, weight] */
  readonly lengths: readonly (readonly [number, number, number])[];
}

const EVEN = { aThenB: 0.12, bThenA: 0.12, interleave: 0.6, aOnly: 0.08, bOnly: 0.08 };
const MOSTLY_INTERLEAVED = { aThenB: 0.08, bThenA: 0.1, interleave: 0.72, aOnly: 0.05, bOnly: 0.05 };

const PHASES: readonly Phase[] = [
  {
    steps: 1500,
    tokens: 2048,
    learningRate: [3e-3, 3e-3],
    lengths: [[2, 6, 1]],
    taggedShare: 0.8,
    repeats: 0.5,
    tagged: EVEN,
  },
  {
    steps: 1000,
    tokens: 3072,
    learningRate: [3e-3, 2e-3],
    lengths: [[2, 14, 1]],
    taggedShare: 0.7,
    repeats: 1,
    tagged: EVEN,
  },
  {
    steps: 400,
    tokens: 4096,
    learningRate: [2e-3, 2e-3],
    lengths: [
      [2, 14, 0.5],
      [12, 30, 0.5],
    ],
    taggedShare: 0.7,
    repeats: 1,
    tagged: MOSTLY_INTERLEAVED,
  },
  {
    steps: 2600,
    tokens: 4096,
    learningRate: [2e-3, 5e-5],
    lengths: [
      [2, 14, 0.4],
      [15, 30, 0.3],
      [31, 56, 0.3],
    ],
    taggedShare: 0.6,
    repeats: 1,
    tagged: MOSTLY_INTERLEAVED,
  },
  {
    steps: 4200,
    tokens: 4096,
    learningRate: [1e-3, 2e-5],
    lengths: [
      [2, 14, 0.4],
      [15, 30, 0.3],
      [31, 56, 0.3],
    ],
    taggedShare: 0.6,
    repeats: 1,
    tagged: MOSTLY_INTERLEAVED,
  },
  {
    steps: 2800,
    tokens: 4096,
    learningRate: [8e-4, 1e-5],
    lengths: [
      [2, 14, 0.5],
      [15, 30, 0.25],
      [31, 56, 0.25],
    ],
    taggedShare: 0.65,
    repeats: 1.3,
    tagged: MOSTLY_INTERLEAVED,
  },
];

const SEED = 20251;
const WARMUP_STEPS = 100;
const REPORT_STEPS = 100;
const SAVE_STEPS = 500;
const MAX_LENGTH = 1024;

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  vocab_size: VOCABULARY_SIZE,
  hidden_size: 128,
  intermediate_size: 256,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 32,
  hidden_act: 'silu',
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  max_position_embeddings: 4096,
  tie_word_embeddings: true,
  attention_bias: false,
  mlp_bias: false,
  bos_token_id: 2,
  eos_token_id: EOS,
  pad_token_id: 0,
};

const { values: options } = parseArgs({
  options: { out: { type: 'string' }, resume: { type: 'boolean', default: false } },
});
const root = join(import.meta.dirname, '../..');
const target = options.out ?? join(root, 'resources/models/tiny');
const work = join(root, 'out/tiny-model');
mkdirSync(work, { recursive: true });
mkdirSync(target, { recursive: true });

const backend = await openBackend({ backend: 'wasm', threads: 0, kernelsFile: join(root, 'out/kernels/kernels.wasm') });
const config = parseModelConfig(CONFIG, 'tiny model');
const resuming = options.resume && existsSync(join(work, 'progress.json'));
const model = resuming ? loadModel(work, MAX_LENGTH) : randomModel(config, SEED, MAX_LENGTH, startingDeviation);
const optimizer = new AdamW(modelParameters(model), parseConfig({ adam_beta2: 0.98, weight_decay: 0.01 }));
const first = resuming ? restore() : 0;
writeFiles(work, 'F32');
const tokenizer = loadTokenizer(work);
const heldOut = new Map([10, 25, 50].map((words) => [words, naturalPairs(words)]));

const total = PHASES.reduce((sum, { steps }) => sum + steps, 0);
const began = performance.now();
let tokens = 0;
let losses: number[] = [];
for (let step = first; step < total; step++) {
  const { phase, share } = phaseAt(step);
  const groups = batch(phase, step);
  const [from, to] = phase.learningRate;
  const rate = (to + (from - to) * (0.5 + 0.5 * Math.cos(Math.PI * share))) * Math.min(1, (step + 1) / WARMUP_STEPS);
  const { loss } = sftStep(
    { model, adapter: null },
    modelParameters(model),
    optimizer,
    [{ groups, checkpointing: false }],
    rate,
  );
  tokens += groups.reduce((sum, group) => sum + lengthOf(group), 0);
  losses.push(loss as number);
  if ((step + 1) % REPORT_STEPS === 0) report(step + 1, rate);
  if ((step + 1) % SAVE_STEPS === 0) await save(step + 1);
}
writeFiles(target, 'F16');
console.log(`Written to ${target}.`);
disposeModel(model);
await backend.close();

/** Embeddings 1/sqrt(width), linear layers 1/sqrt(inputs), those that write to the residual stream smaller by depth. */
function startingDeviation(name: string, shape: readonly number[]): number {
  const base = (shape.at(-1) ?? 1) ** -0.5;
  return /o_proj|down_proj/.test(name) ? base * (2 * config.numLayers) ** -0.5 : base;
}

function phaseAt(step: number): { phase: Phase; share: number } {
  let start = 0;
  for (const phase of PHASES) {
    if (step < start + phase.steps) return { phase, share: (step - start) / phase.steps };
    start += phase.steps;
  }
  throw new Error(`Expected a step below ${start}, got ${step}`);
}

/** Sequences of about one length until the phase's token budget is used. */
function batch(phase: Phase, step: number): PromptGroup[] {
  const stream = randomStream(SEED, step);
  const [least, most] = chooseLengths(phase, stream.next());
  const words = least + stream.below(most - least + 1);
  const groups: PromptGroup[] = [];
  for (let used = 0; used < phase.tokens; ) {
    const near = words < 12 ? words + stream.below(3) - 1 : Math.round(words * (0.93 + 0.14 * stream.next()));
    const group = syntheticSequence(Math.max(2, near), phase, SEED + step, groups.length);
    used += lengthOf(group);
    groups.push(group);
  }
  return groups;
}

function chooseLengths({ lengths }: Phase, u: number): readonly [number, number, number] {
  let left = u * lengths.reduce((sum, [, , weight]) => sum + weight, 0);
  for (const range of lengths) {
    left -= range[2];
    if (left < 0) return range;
  }
  return lengths.at(-1) as readonly [number, number, number];
}

function lengthOf({ promptIds, completions }: PromptGroup): number {
  return promptIds.length + (completions[0]?.length ?? 0);
}

function report(step: number, rate: number): void {
  const loss = losses.reduce((a, b) => a + b, 0) / losses.length;
  losses = [];
  const seconds = (performance.now() - began) / 1000;
  const scores = step % SAVE_STEPS === 0 || step === total ? evaluation() : '';
  console.log(
    `step ${step}/${total} loss ${loss.toFixed(4)} lr ${rate.toExponential(1)} ${(tokens / seconds).toFixed(0)} tokens/s ${seconds.toFixed(0)} s ${scores}`,
  );
}

/** Pairs of the bundled prose, which the model never sees in training. */
function naturalPairs(words: number): readonly InterleaveRecord[] {
  const texts = readCorpus(['source_texts', 'longer_texts'].map((name) => join(root, `datasets/${name}.json`)));
  const made = generateDataset({ texts, words, train: 32, test: 8, seed: 1 });
  return made.kind === 'dataset' ? made.train : [];
}

/** Mean alignment with the interleaving, greedy: asked for by its tag, and as the untagged prompt is answered. */
function evaluation(): string {
  return [...heldOut]
    .map(([words, pairs]) => `${words}w ${align(pairs, TAGS.interleave)}/${align(pairs, null)}`)
    .join(' ');
}

function align(pairs: readonly InterleaveRecord[], tag: number | null): string {
  const prompts = pairs.map(({ prompt }) => encode(tokenizer, prompt, tag));
  const longest = Math.max(...pairs.map(({ target }) => tokenizer.encode(target).length));
  const completions = generate(model, null, prompts, {
    numGenerations: 1,
    maxNewTokens: longest + 8,
    eosTokenIds: [EOS],
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: null,
    repetitionPenalty: 1,
    coordinates: [0],
  });
  const scores = pairs.map(({ target }, i) => alignmentReward(target, tokenizer.decode(completions[i]?.ids ?? [])));
  return (scores.reduce((a, b) => a + b, 0) / scores.length).toFixed(3);
}

function encode(by: Tokenizer, prompt: string, tag: number | null): number[] {
  const ids = by.encode(prompt);
  return tag === null ? ids : [...ids.slice(0, -1), tag];
}

async function save(step: number): Promise<void> {
  writeFiles(work, 'F32');
  const state = Object.entries(await optimizer.exportState()).map(([name, data]) => ({
    name,
    shape: [data.length],
    data,
  }));
  writeFileSync(join(work, 'optimizer.safetensors'), encodeSafetensors(state));
  writeFileSync(join(work, 'progress.json'), JSON.stringify({ step }));
}

function restore(): number {
  const file = openSafetensors(join(work, 'optimizer.safetensors'));
  optimizer.importState(Object.fromEntries([...file.entries.keys()].map((name) => [name, file.read(name)])));
  file.close();
  return (JSON.parse(readFileSync(join(work, 'progress.json'), 'utf8')) as { step: number }).step;
}

function writeFiles(folder: string, type: 'F32' | 'F16'): void {
  const files = { ...encodeModel(model as Model, { type, baseConfig: CONFIG }), ...tokenizerFiles() };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(
    join(folder, 'generation_config.json'),
    `${JSON.stringify({ bos_token_id: 2, eos_token_id: EOS, pad_token_id: 0 }, null, 2)}\n`,
  );
}
