/** `braid dataset`: datasets for the stages of a curriculum. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import {
  curriculumWords,
  datasetFiles,
  decideSides,
  divideCorpus,
  findLeakage,
  type GeneratedDataset,
  generateCurriculum,
  type Leakage,
  mixStages,
  quotedInPairs,
  readTemplate,
  recordDataset,
  type StageSupply,
  sidesOf,
  writeDataset,
} from '../services/datasets/index.ts';
import { type KnownModel, unwritableWarning } from '../services/datasets/unwritable.ts';
import type { SourceText } from '../services/texts/index.ts';
import { openStore } from '../store/index.ts';
import { type PromptTemplate, processTemplate } from '../tasks/interleave/prompt.ts';
import { interleaveTask } from '../tasks/interleave/task.ts';
import { counted } from '../text/format.ts';
import { chooseCorpus } from './corpus.ts';
import { registerDatasetImport } from './dataset-import.ts';
import { modelToCheck } from './model-to-check.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface DatasetOptions {
  readonly curriculum?: boolean;
  readonly mixed?: boolean;
  readonly words?: string;
  readonly outputDir?: string;
  readonly texts?: string[];
  readonly train: string;
  readonly test: string;
  readonly template?: string;
  readonly model?: string;
}

/** A written stage; field names as in `--json`. */
interface WrittenStage {
  readonly words: number;
  readonly file: string;
  readonly test_file: string;
  readonly train: number;
  readonly test: number;
  /** Whether training and test share no title and no sequence of eight words. */
  readonly held_out_clean: boolean;
  /** What to say of words that the model can't write; null: it can write all. */
  readonly unwritable: string | null;
}

/** Adds `dataset`. */
export function registerDataset(program: Command): void {
  const dataset = withCommonOptions(program.command('dataset'))
    .option('--curriculum', `all stages: ${curriculumWords.join(', ')} words`)
    .option('--words <list>', 'word counts, for instance 10,25')
    .option('--mixed', 'one dataset of all the word counts together, for adarft_target_reward')
    .option('--output-dir <dir>', "output folder (default: the workspace's datasets folder)")
    .option('--texts <files...>', "source texts (default: the workspace's, or the bundled ones)")
    .option('--train <n>', 'training pairs per stage', '512')
    .option('--test <n>', 'test pairs per stage', '64')
    .option('--model <dir>', "model whose tokenizer the words are checked with (default: the curriculum's)")
    .option('--template <file>', 'prompt template: .json {name, version, text}, or .txt')
    .action((options: DatasetOptions, command: Command) => makeDatasets(options, command));
  registerDatasetImport(dataset);
}

async function makeDatasets(options: DatasetOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const stages = stagesOf(options);
  const template = options.template === undefined ? processTemplate : readTemplate(options.template);
  const train = wholeNumber('--train', options.train);
  const test = wholeNumber('--test', options.test);
  const { origin, texts } = await chooseCorpus(context, options.texts ?? []);
  const folder = resolve(options.outputDir ?? context.workspace.datasets);
  const made = generateCurriculum({ texts, stages, train, test, seed: context.seed, template });
  const generated = options.mixed === true ? mixStages(made) : made;
  const checked = generated.map((stage) => ({ stage, leakage: leakageIn(stage) }));
  const model = modelToCheck(context, options.model);
  const written = checked.flatMap((one) => writeStage(one, folder, model, context));
  recordInHistory(checked, texts, folder, context, template);
  const shortages = generated.flatMap((stage): StageSupply[] => (stage.kind === 'shortage' ? [stage.supply] : []));
  context.out({
    output_dir: folder,
    origin,
    texts: texts.length,
    seed: context.seed,
    template: { name: template.name, version: template.version },
    stages: written,
    shortages,
  });
  if (written.length === 0) throw nothingServed(shortages);
}

function fileName({ words, mixed }: Extract<GeneratedDataset, { kind: 'dataset' }>): string {
  return mixed === undefined ? `${words}words.jsonl` : `${mixed.join('-')}words.jsonl`;
}

/** Files in an existing workspace are recorded in its history. No workspace is created for files elsewhere. */
function recordInHistory(
  checked: readonly CheckedStage[],
  texts: readonly SourceText[],
  folder: string,
  context: CommandContext,
  template: PromptTemplate,
): void {
  const own = folder === context.workspace.datasets;
  if (!own && !existsSync(context.workspace.database)) return;
  const store = openStore(context.workspace.database);
  try {
    for (const { stage, leakage } of checked) {
      if (stage.kind === 'shortage') continue;
      const files = datasetFiles(join(folder, fileName(stage)));
      recordDataset(store, { ...stage, files, seed: context.seed, template, leakage });
    }
    // Texts stay on their side of the split, also those that are imported only later.
    if (checked.some(({ stage }) => stage.kind === 'dataset'))
      decideSides(store, sidesOf(divideCorpus(texts, context.seed)));
  } finally {
    store.close();
  }
}

function stagesOf(options: DatasetOptions): number[] {
  if (options.words === undefined && options.curriculum !== true)
    throw inputError('BAD_OPTION', 'Expected --curriculum, or word counts such as --words 10,25; got neither');
  if (options.words === undefined) return [...curriculumWords];
  const words = options.words.split(',').map((part) => wholeNumber('--words', part));
  return [...new Set(words)].sort((a, b) => a - b);
}

/** A stage, and what its test records share with its training records. */
interface CheckedStage {
  readonly stage: GeneratedDataset;
  readonly leakage: Leakage | null;
}

function leakageIn(stage: GeneratedDataset): Leakage | null {
  return stage.kind === 'shortage' ? null : findLeakage(stage.train, stage.test);
}

function writeStage(
  { stage, leakage }: CheckedStage,
  folder: string,
  model: KnownModel | null,
  context: CommandContext,
): WrittenStage[] {
  if (stage.kind === 'shortage') {
    context.say(`Skipped: ${stage.reason}`);
    return [];
  }
  const { words, train, test } = stage;
  const files = writeDataset(join(folder, fileName(stage)), { train, test });
  const { clean = true, overlaps = [] } = leakage ?? {};
  if (!clean)
    context.say(
      `${files.test}: ${counted(overlaps.length, 'test pair shares', 'test pairs share')} eight or more consecutive words with training pairs`,
    );
  const quoted = quotedInPairs(stage);
  const unwritable = unwritableWarning(model, interleaveTask, [...train, ...test]);
  for (const warning of [quoted, unwritable]) if (warning !== null) context.say(`${files.train}: ${warning}`);
  context.print(`${files.train}: ${counted(train.length, 'pair')}; ${files.test}: ${test.length}`);
  return [
    {
      words,
      file: files.train,
      test_file: files.test,
      train: train.length,
      test: test.length,
      held_out_clean: clean,
      unwritable,
    },
  ];
}

function nothingServed(shortages: readonly StageSupply[]): Error {
  return inputError(
    'TEXTS_TOO_SHORT',
    `The texts aren't sufficient for any stage: ${shortages.map((stage) => stage.shortage).join('; ')}`,
    'Import longer texts with `braid texts import`, or choose smaller word counts.',
  );
}
