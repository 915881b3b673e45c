/** Datasets from the corpus: preview, leakage check, and the files. */
import { existsSync } from 'node:fs';
import { largest } from '../../lists.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import type { PromptTemplate } from '../../tasks/interleave/prompt.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { countWords } from '../../text/words.ts';
import { detectTask } from '../datasets/detect-task.ts';
import { type DatasetFiles, datasetFiles, readDataset, writeDataset } from '../datasets/files.ts';
import {
  divideCorpus,
  type GeneratedDataset,
  generateDataset,
  generateStages,
  mixStages,
  quotedInPairs,
  sidesOf,
  type TextOnSide,
} from '../datasets/generate.ts';
import { findLeakage, findRecordLeakage, type Leakage } from '../datasets/leakage.ts';
import type { PairCounts, StageSupply } from '../datasets/supply.ts';
import { type KnownModel, unwritableWarning } from '../datasets/unwritable.ts';
import type { SourceText } from '../texts/source-text.ts';
import type { TaskContext } from './messages.ts';

/** How records are generated. */
export interface MakeOptions extends PairCounts {
  readonly seed: number;
  readonly template: PromptTemplate;
  /** The model that is likely to be trained; null or absent: it isn't known. */
  readonly model?: KnownModel | null;
}

export interface PreviewInput extends MakeOptions {
  readonly texts: readonly SourceText[];
  readonly words: number;
  /** Records to show per side. */
  readonly show: number;
}

/** Preview of a stage's dataset. */
export interface DatasetPreview {
  readonly supply: StageSupply;
  readonly train: readonly InterleaveRecord[];
  readonly test: readonly InterleaveRecord[];
  /** Words of the longest prompt; 0 when there are none. */
  readonly longestPrompt: number;
  /** null if the texts aren't sufficient. */
  readonly leakage: Leakage | null;
  /** What to say of control tokens in the fragments of either side; null: there are none. */
  readonly quoted: string | null;
  /** What to say of words that the model can't write; null: it can write all. */
  readonly unwritable: string | null;
}

/** The first records of the dataset for these options. */
export function previewDataset(options: PreviewInput): DatasetPreview {
  const made = generateDataset(options);
  if (made.kind === 'shortage') {
    return {
      supply: made.supply,
      train: [],
      test: [],
      longestPrompt: 0,
      leakage: null,
      quoted: null,
      unwritable: null,
    };
  }
  const { supply, train, test } = made;
  return {
    supply,
    train: train.slice(0, options.show),
    test: test.slice(0, options.show),
    longestPrompt: largest(train.map(({ prompt }) => countWords(prompt))),
    leakage: findLeakage(train, test),
    quoted: quotedInPairs(made),
    unwritable: unwritableInPairs(options, made),
  };
}

function unwritableInPairs({ model }: MakeOptions, { train, test }: Made): string | null {
  return unwritableWarning(model, interleaveTask, [...train, ...test]);
}

/** Whether the test records of a dataset's files are held out. `task`: what the records are for. */
export function checkLeakage({ train, test, task }: DatasetFiles & { readonly task: TaskSource }): Leakage {
  // Only these records name the texts that their prompts were made from.
  if (task === interleaveTask.name)
    return findLeakage(readDataset(train, interleaveTask), readDataset(test, interleaveTask));
  // Records are read without the reward, so it starts no thread.
  const opened = openTask(task, '');
  return findRecordLeakage(opened, readDataset(train, opened), readDataset(test, opened));
}

/** Facts about a dataset from its records. */
export interface DatasetFacts {
  readonly task: 'interleave' | 'reply';
  /** Words per fragment; null if they differ or there are none. */
  readonly words: number | null;
  readonly trainN: number;
  readonly testN: number;
  /** null: there is nothing to compare. */
  readonly leakage: Leakage | null;
}

/** Reads every record of both files; an invalid line is an error that names it. */
export function inspectDataset({ train, test }: DatasetFiles): DatasetFacts {
  const sides = existsSync(test) ? [train, test] : [train];
  if (detectTask(train) === 'reply') {
    const [training = [], testing = []] = sides.map((file) => readDataset(file, replyTask));
    const leakage = testing.length === 0 ? null : findRecordLeakage(replyTask, training, testing);
    return { task: 'reply', words: null, trainN: training.length, testN: testing.length, leakage };
  }
  const records = sides.map((file) => readDataset(file, interleaveTask));
  const lengths = new Set(records.flat().map(({ words }) => words));
  const [words = null] = lengths.size === 1 ? lengths : [];
  const [training = [], testing = []] = records;
  const leakage = testing.length === 0 ? null : findLeakage(training, testing);
  return { task: 'interleave', words, trainN: training.length, testN: testing.length, leakage };
}

export interface WriteInput extends MakeOptions {
  readonly texts: readonly SourceText[];
  readonly stages: readonly { readonly words: number; readonly file: string }[];
  /** The file of one dataset of all the lengths together, in place of one for each; null: one for each. */
  readonly mixedFile?: string | null;
}

/** A stage whose files were written. */
export interface WrittenDataset {
  /** null: of several lengths. */
  readonly words: number | null;
  readonly files: DatasetFiles;
  readonly train: number;
  readonly test: number;
  readonly leakage: Leakage;
  readonly quoted: string | null;
  readonly unwritable: string | null;
}

export interface WriteResult {
  readonly written: readonly WrittenDataset[];
  readonly shortages: readonly StageSupply[];
  /** Stages that were not started because the work was cancelled. */
  readonly cancelled: readonly number[];
  /** The side that each text was on; it stays there. */
  readonly sides: readonly TextOnSide[];
}

type Made = Extract<GeneratedDataset, { kind: 'dataset' }>;

function writeOne(file: string, made: Made, options: MakeOptions): Omit<WrittenDataset, 'words'> {
  const { train, test } = made;
  const leakage = findLeakage(train, test);
  const files = writeDataset(datasetFiles(file).train, made);
  const [quoted, unwritable] = [quotedInPairs(made), unwritableInPairs(options, made)];
  return { files, train: train.length, test: test.length, leakage, quoted, unwritable };
}

/** Generates and writes the stages one by one; written ones are kept, whatever happens later. */
export function writeDatasets({ stages, mixedFile = null, ...options }: WriteInput, context: TaskContext): WriteResult {
  const written: WrittenDataset[] = [];
  const shortages: StageSupply[] = [];
  const begun: number[] = [];
  const words = stages.map((stage) => stage.words);
  const corpus = divideCorpus(options.texts, options.seed);
  const sides = sidesOf(corpus);
  const generated: GeneratedDataset[] = [];
  const left = () => words.filter((count) => !begun.includes(count));
  for (const made of generateStages({ ...options, stages: words }, corpus)) {
    if (context.cancelled()) return { written, shortages, cancelled: left(), sides };
    begun.push(made.words);
    const file = stages.find((stage) => stage.words === made.words)?.file ?? '';
    if (made.kind === 'shortage') shortages.push(made.supply);
    else if (mixedFile !== null) generated.push(made);
    else written.push({ words: made.words, ...writeOne(file, made, options) });
    context.progress({ done: begun.length, total: stages.length, unit: 'stages' });
  }
  // A mixture that lacks some of its lengths isn't what was asked for.
  const [mixed] = shortages.length > 0 ? [] : mixStages(generated);
  if (mixedFile !== null && mixed?.kind === 'dataset')
    written.push({ words: null, ...writeOne(mixedFile, mixed, options) });
  return { written, shortages, cancelled: [], sides };
}
