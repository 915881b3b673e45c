/**
 * Makes resources/models/tiny-reply out of the tiny model: all its weights learn the words of short replies by this
 * project's own supervised step. `node scripts/tiny-model/reply.ts [--from DIR] [--out DIR] [--stop N] [--threads N]`;
 * about ten minutes of one core. The bundled reply model was made from the tiny model of four layers that came with
 * Braid until 2026-11-22 (git history, resources/models/tiny at 045890b).
 *
 * It sees posts and replies of the sample's sentences (scripts/reply-sample/grammar.ts) about made-up subjects: random
 * words of the bundled texts and of the vocabulary, none of the sample's. So it learns to take the subject over from the post, whatever it is.
 * Half of the replies are of another mood than the post and some are about another subject: what suits a post is left
 * for training to find out.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { encodeModel } from '../../main/model/export.ts';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, modelParameters } from '../../main/model/model.ts';
import type { PromptGroup } from '../../main/model/pack.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { type RandomStream, randomStream } from '../../main/random.ts';
import { readCorpus } from '../../main/services/texts/index.ts';
import { replyPrompt } from '../../main/tasks/reply/prompt.ts';
import { splitWords } from '../../main/text/words.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { sftLoss } from '../../main/trainer/local/sft-loss.ts';
import { AdamW } from '../../main/trainer/optim/optimizer.ts';
import { fill, MOODS, SUBJECTS } from '../reply-sample/grammar.ts';
import { EOS, tokenizerFiles } from './tokenizer.ts';

const SEED = 77;
const ROWS = 32;
const LEARNING_RATE = 2e-3;
const WARMUP_STEPS = 30;
const REPORT_STEPS = 100;
const MAX_LENGTH = 128;
/** Replies of a mood drawn at random, and replies about another subject. */
const ANY_MOOD = 0.6;
const FROM_TEXTS = 0.7;
const OTHER_SUBJECT = 0.1;

const { values: options } = parseArgs({
  options: {
    from: { type: 'string' },
    out: { type: 'string' },
    stop: { type: 'string', default: '2020' },
    threads: { type: 'string', default: '0' },
  },
});
const root = join(import.meta.dirname, '../..');
const source = options.from ?? join(root, 'resources/models/tiny');
const target = options.out ?? join(root, 'resources/models/tiny-reply');
/** The learning rate falls as for so many steps; it is low enough for the rest to add nothing much. */
const SCHEDULE_STEPS = 2500;
const steps = Number(options.stop);

/** What the sample is about stays unseen. */
const taken = new Set(SUBJECTS.flat().flatMap((words) => words.split(' ')));
const usable = (list: readonly string[]): string[] => [
  ...new Set(list.filter((word) => /^[a-z]{3,}$/.test(word) && !taken.has(word))),
];
/** Mostly of more than one token, as the subjects of posts are, and of one token. */
const sources = [
  usable(
    readCorpus(['source_texts', 'longer_texts'].map((name) => join(root, `datasets/${name}.json`))).flatMap(
      ({ text }) => splitWords(text),
    ),
  ),
  usable(readFileSync(join(import.meta.dirname, 'vocabulary.txt'), 'utf8').split('\n')),
] as const;

const kernelsFile = join(root, 'out/kernels/kernels.wasm');
const backend = await openBackend({ backend: 'wasm', threads: Number(options.threads), kernelsFile });
const tokenizer = loadTokenizer(source);
const model = loadModel(source, MAX_LENGTH);
const parameters = modelParameters(model);
const optimizer = new AdamW(parameters, parseConfig({ adam_beta2: 0.98, weight_decay: 0.01 }));

let losses: number[] = [];
for (let step = 0; step < steps; step++) {
  const groups = Array.from({ length: ROWS }, (_, row) => example(randomStream(SEED, step, row)));
  const rate =
    LEARNING_RATE * Math.min(1, (step + 1) / WARMUP_STEPS) * (0.5 + 0.5 * Math.cos((Math.PI * step) / SCHEDULE_STEPS));
  const { loss, gradients } = sftLoss({ model, adapter: null }, parameters, [{ groups, checkpointing: false }]);
  optimizer.update(gradients, rate);
  tf.dispose(gradients);
  losses.push(loss);
  if ((step + 1) % REPORT_STEPS === 0 || step + 1 === steps) report(step + 1);
}
writeFiles();
console.log(`Written to ${target}.`);
disposeModel(model);
await backend.close();

/** A post about a subject made of random words, and a reply that mostly is about it too. */
function example(stream: RandomStream): PromptGroup {
  const [mood, other] = [choose(MOODS, stream), choose(MOODS, stream)];
  const post = choose(mood.posts, stream);
  const reply = choose((stream.next() < ANY_MOOD ? other : mood).replies, stream);
  const subject = madeSubject(stream);
  const about = stream.next() < OTHER_SUBJECT ? madeSubject(stream) : subject;
  return {
    promptIds: tokenizer.encode(replyPrompt(fill(post, ...subject))),
    completions: [[...tokenizer.encode(fill(reply, ...about)), EOS]],
  };
}

/** A thing of one or two words and a part of one. */
function madeSubject(stream: RandomStream): readonly [thing: string, part: string] {
  const word = (): string => choose(stream.next() < FROM_TEXTS ? sources[0] : sources[1], stream);
  return [stream.next() < 0.5 ? word() : `${word()} ${word()}`, word()];
}

function choose<T>(items: readonly T[], stream: RandomStream): T {
  return items[stream.below(items.length)] as T;
}

/** The loss, and what it says to posts about subjects of the sample, which it never sees in training. */
function report(step: number): void {
  const loss = losses.reduce((a, b) => a + b, 0) / losses.length;
  losses = [];
  const posts = SUBJECTS.slice(0, 4).map(([thing, part], i) => fill(MOODS[i]?.posts[0] ?? '', thing, part));
  const said = generate(
    model,
    null,
    posts.map((post) => tokenizer.encode(replyPrompt(post))),
    {
      numGenerations: 1,
      maxNewTokens: 40,
      eosTokenIds: [EOS],
      temperature: 1,
      topK: 0,
      topP: 1,
      minP: null,
      repetitionPenalty: 1,
      coordinates: [SEED, step],
    },
  );
  console.log(`step ${step}/${steps} loss ${loss.toFixed(4)}`);
  posts.forEach((post, i) => {
    console.log(`  ${post}\n    ${tokenizer.decode(said[i]?.ids ?? [])}`);
  });
}

function writeFiles(): void {
  mkdirSync(target, { recursive: true });
  const baseConfig = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8')) as Readonly<Record<string, unknown>>;
  const files = { ...encodeModel(model, { type: 'F16', baseConfig }), ...tokenizerFiles() };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(target, name), content);
  writeFileSync(join(target, 'generation_config.json'), readFileSync(join(source, 'generation_config.json')));
}
