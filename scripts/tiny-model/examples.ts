/**
 * Streams the tiny model's training examples to `train.py`, so that they exist in TypeScript only.
 * `node scripts/tiny-model/examples.ts '{"seed":1,"from":0,"steps":100,"tokens":[[0,8192]],"longest":[[0,60]],"recurring":{"short":0,"long":0},"phrases":{"recurring":0,"alike":0.06},"near":0,"interleaved":0.03,"beginnings":0}'`
 *
 * A step is int32s: how many groups, how many numbers follow, and then of each group the lengths of its prompt and
 * its number of completions, each completion's length and how many of its first tokens carry no loss, and the tokens
 * of all. `node scripts/tiny-model/examples.ts tokenizer DIR` writes the tokenizer's files instead.
 */
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { packedLength } from '../../main/model/pack.ts';
import { randomStream } from '../../main/random.ts';
import { beginningExample, type Example, type Settings, syntheticExample } from './synthetic.ts';
import { EOS, tokenizerFiles } from './tokenizer.ts';

type Changing = readonly (readonly [step: number, value: number])[];

interface Plan extends Settings {
  readonly seed: number;
  readonly from: number;
  readonly steps: number;
  /** From which step on the longest fragment has how many words, and a step how many tokens. */
  readonly longest: Changing;
  readonly tokens: Changing;
  /** Share of the examples that are the beginning of an untagged completion. */
  readonly beginnings: number;
}

/** Words of the shortest fragment. Lengths are drawn log-uniformly. */
const SHORTEST = 2;

const [what = '', folder = ''] = process.argv.slice(2);
if (what === 'tokenizer') writeTokenizer();
else stream(JSON.parse(what) as Plan);

function stream(plan: Plan): void {
  for (let step = plan.from; step < plan.steps; step++) {
    const examples = batch(plan, step);
    const numbers = examples.flatMap(({ group: { promptIds, completions }, given }) => [
      ...[promptIds.length, completions.length],
      ...completions.flatMap(({ length }, i) => [length, given[i] ?? 0]),
      ...promptIds,
      ...completions.flat(),
    ]);
    writeAll(Int32Array.of(examples.length, numbers.length, ...numbers));
  }
}

function batch(plan: Plan, step: number): readonly Example[] {
  const at = (values: Changing): number => values.findLast(([from]) => step >= from)?.[1] ?? 0;
  const [most, budget] = [at(plan.longest), at(plan.tokens)];
  const lengths = randomStream(plan.seed, step, 0);
  const examples: Example[] = [];
  for (let used = 0; used < budget; ) {
    const words = Math.min(most, Math.floor(SHORTEST * ((most + 1) / SHORTEST) ** lengths.next()));
    // Stages without beginnings draw no number here, so their lengths stay as they were.
    const isBeginning = plan.beginnings > 0 && lengths.next() < plan.beginnings;
    const make = isBeginning ? beginningExample : syntheticExample;
    const example = make(words, plan, plan.seed + step, examples.length);
    used += packedLength(example.group);
    examples.push(example);
  }
  return examples;
}

/** A pipe may take less than it is given, or nothing for the moment. */
function writeAll(numbers: Int32Array): void {
  let left = Buffer.from(numbers.buffer);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw error;
    }
  }
}

function writeTokenizer(): void {
  const generation = { bos_token_id: 2, eos_token_id: EOS, pad_token_id: 0 };
  const files = { ...tokenizerFiles(), 'generation_config.json': `${JSON.stringify(generation, null, 2)}\n` };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
