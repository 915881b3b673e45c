/** The dataset generator: fragments of exactly n words, the prompt that asks for their interleaving, the answer. */

import { inputError } from '../../errors.ts';
import { hashString, randomStream } from '../../random.ts';
import { textHash } from '../../store/texts.ts';
import { checkTemplate, type PromptTemplate, processTemplate, renderPrompt } from '../../tasks/interleave/prompt.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveWords } from '../../tasks/interleave/target.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import { quotedWarning, usualQuoting } from '../../text/quoted-tokens.ts';
import { mergeTexts } from '../texts/merge.ts';
import type { CorpusText, Side, SourceText } from '../texts/source-text.ts';
import { drawPairs } from './pairs.ts';
import { splitTexts, type TextSplit } from './split.ts';
import { defaultPairs, longEnough, type StageSupply, stageSupply } from './supply.ts';

export interface DatasetOptions {
  readonly texts: readonly SourceText[];
  /** Words per fragment. */
  readonly words: number;
  readonly train?: number;
  readonly test?: number;
  readonly seed?: number;
  readonly template?: PromptTemplate;
}

/** A stage's dataset, or why the texts aren't sufficient. */
export type GeneratedDataset =
  | {
      readonly kind: 'dataset';
      readonly words: number;
      readonly train: readonly InterleaveRecord[];
      readonly test: readonly InterleaveRecord[];
      readonly supply: StageSupply;
      /** The word counts of a dataset of several; `words` is the highest. */
      readonly mixed?: readonly number[];
    }
  | { readonly kind: 'shortage'; readonly words: number; readonly supply: StageSupply; readonly reason: string };

/** Generates one stage; the same options always give the same records. */
export function generateDataset(options: DatasetOptions): GeneratedDataset {
  return generateCurriculum({ ...options, stages: [options.words] })[0] as GeneratedDataset;
}

/** A text on one side of the split. */
export interface TextOnSide {
  readonly id: string;
  /** Its `textHash`, by which its side is kept. */
  readonly hash: string;
  readonly side: Side;
}

export interface CurriculumOptions extends Omit<DatasetOptions, 'words'> {
  readonly stages: readonly number[];
}

/** Generates several stages over one split of the texts, so that no stage trains on another's test texts. */
export function generateCurriculum(options: CurriculumOptions): GeneratedDataset[] {
  return [...generateStages(options)];
}

/**
 * Texts without their copies, which on both sides of the split would leak test texts into training; and the split.
 * Near duplicates that were kept on purpose are on one side, and stay.
 */
export interface DividedCorpus {
  readonly texts: readonly CorpusText[];
  readonly split: TextSplit;
}

/** The corpus of the datasets that are generated with a seed. */
export function divideCorpus(sources: readonly SourceText[], seed = 42): DividedCorpus {
  const { texts } = mergeTexts([], sources, {
    choose: (_, { side }, found) =>
      side !== undefined && found.every((other) => other.side === side) ? 'both' : undefined,
  });
  return { texts, split: splitTexts(texts, seed) };
}

/** The side that each text is on. */
export function sidesOf({ split }: DividedCorpus): readonly TextOnSide[] {
  return (['train', 'test'] as const).flatMap((side) =>
    split[side].map(({ id, text }) => ({ id, hash: textHash(text), side })),
  );
}

/** The same one stage at a time, for work that reports progress or is cancelled between stages. */
export function* generateStages(
  options: CurriculumOptions,
  { texts, split } = divideCorpus(options.texts, options.seed),
): Generator<GeneratedDataset, void> {
  const { train, test, seed = 42, template = processTemplate } = options;
  const pairs = { train: train ?? defaultPairs.train, test: test ?? defaultPairs.test };
  for (const words of options.stages) checkCount('words', words);
  checkCount('train', pairs.train);
  checkCount('test', pairs.test);
  checkTemplate(template);
  for (const words of options.stages) {
    const supply = stageSupply(texts, words, pairs, seed);
    if (supply.shortage !== null) {
      yield { kind: 'shortage', words, supply, reason: supply.shortage };
      continue;
    }
    const records = (side: keyof TextSplit): InterleaveRecord[] =>
      makeRecords(split[side], side, words, pairs[side], seed, template);
    yield { kind: 'dataset', words, train: records('train'), test: records('test'), supply };
  }
}

/** One dataset of all stages that were made, shortest first, for prompts whose difficulty follows the reward; and the shortages. */
export function mixStages(stages: readonly GeneratedDataset[]): GeneratedDataset[] {
  const made = stages.flatMap((stage) => (stage.kind === 'dataset' ? [stage] : []));
  const last = made.at(-1);
  if (last === undefined) return [...stages];
  const mixed: GeneratedDataset = {
    ...last,
    train: made.flatMap(({ train }) => train),
    test: made.flatMap(({ test }) => test),
    mixed: made.map(({ words }) => words),
  };
  return [...stages.filter(({ kind }) => kind === 'shortage'), mixed];
}

/** What to say of control tokens that the fragments of either side quote; null: they quote none. */
export function quotedInPairs({
  train,
  test,
}: Pick<Extract<GeneratedDataset, { kind: 'dataset' }>, 'train' | 'test'>): string | null {
  return quotedWarning(usualQuoting([...train, ...test].map((record) => interleaveTask.quoted(record))));
}

function checkCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw inputError('BAD_DATASET_OPTION', `Expected "${name}" to be a whole number of at least 1, got ${value}`);
}

function makeRecords(
  texts: readonly CorpusText[],
  side: keyof TextSplit,
  words: number,
  count: number,
  seed: number,
  template: PromptTemplate,
): InterleaveRecord[] {
  const stream = randomStream(seed, hashString('pairs'), words, hashString(side));
  return drawPairs(longEnough(texts, words), words, count, stream).map(([a, b], i) => {
    const values = { fragment_a: a.words.join(' '), fragment_b: b.words.join(' '), words };
    return {
      id: `${words}w-${side}-${String(i + 1).padStart(4, '0')}`,
      words,
      title_a: a.title,
      title_b: b.title,
      fragment_a: values.fragment_a,
      fragment_b: values.fragment_b,
      prompt: renderPrompt(template, values),
      target: interleaveWords(a.words, b.words).join(' '),
    };
  });
}
