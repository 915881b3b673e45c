/** `braid dataset`: datasets for the stages of a curriculum. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import {
  curriculumWords,
  datasetFiles,
  findLeakage,
  type GeneratedDataset,
  generateCurriculum,
  readTemplate,
  recordDataset,
  type StageSupply,
  writeDataset,
} from '../services/datasets.ts';
import { openStore } from '../store/index.ts';
import { type PromptTemplate, processTemplate } from '../tasks/interleave/prompt.ts';
import { chooseCorpus } from './corpus.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface DatasetOptions {
  readonly curriculum?: boolean;
  readonly words?: string;
  readonly outputDir?: string;
  readonly texts?: string[];
  readonly train: string;
  readonly test: string;
  readonly template?: string;
}

/** A stage that was written; field names as in `--json`. */
interface WrittenStage {
  readonly words: number;
  readonly file: string;
  readonly test_file: string;
  readonly train: number;
  readonly test: number;
  /** Whether no title and no run of eight words stands on both sides. */
  readonly held_out_clean: boolean;
}

/** Adds `dataset`. */
export function registerDataset(program: Command): void {
  withCommonOptions(program.command('dataset'))
    .description('make training and test pairs for one or more word counts')
    .option('--curriculum', `all stages: ${curriculumWords.join(', ')} words`)
    .option('--words <list>', 'word counts, for instance 10,25')
    .option('--output-dir <dir>', "where the files go (default: the workspace's datasets folder)")
    .option('--texts <files...>', "source texts (default: the workspace's, or the bundled ones)")
    .option('--train <n>', 'training pairs a stage', '512')
    .option('--test <n>', 'test pairs a stage', '64')
    .option('--template <file>', 'prompt template: .json {name, version, text}, or .txt')
    .action((options: DatasetOptions, command: Command) => makeDatasets(options, command));
}

function makeDatasets(options: DatasetOptions, command: Command): void {
  const context = commandContext(command);
  const stages = stagesOf(options);
  const template = options.template === undefined ? processTemplate : readTemplate(options.template);
  const train = wholeNumber('--train', options.train);
  const test = wholeNumber('--test', options.test);
  const { origin, texts } = chooseCorpus(context, options.texts ?? []);
  const folder = resolve(options.outputDir ?? context.workspace.datasets);
  const generated = generateCurriculum({ texts, stages, train, test, seed: context.seed, template });
  const written = generated.flatMap((stage) => writeStage(stage, folder, context));
  noteInHistory(generated, folder, context, template);
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

/** The workspace's own folder, or a workspace that is there: its history knows them. Elsewhere none is created. */
function noteInHistory(
  generated: readonly GeneratedDataset[],
  folder: string,
  context: CommandContext,
  template: PromptTemplate,
): void {
  const own = folder === context.workspace.datasets;
  if (!own && !existsSync(context.workspace.database)) return;
  const store = openStore(context.workspace.database);
  try {
    for (const stage of generated) {
      if (stage.kind === 'shortage') continue;
      const files = datasetFiles(join(folder, `${stage.words}words.jsonl`));
      recordDataset(store, { ...stage, files, seed: context.seed, template });
    }
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

function writeStage(stage: GeneratedDataset, folder: string, context: CommandContext): WrittenStage[] {
  if (stage.kind === 'shortage') {
    context.say(`Not made: ${stage.reason}`);
    return [];
  }
  const { words, train, test } = stage;
  const files = writeDataset(join(folder, `${words}words.jsonl`), { train, test });
  const { clean, overlaps } = findLeakage(train, test);
  if (!clean) context.say(`${files.test}: ${overlaps.length} test pairs repeat eight or more words of training pairs`);
  context.print(`${files.train}: ${train.length} pairs; ${files.test}: ${test.length}`);
  return [
    { words, file: files.train, test_file: files.test, train: train.length, test: test.length, held_out_clean: clean },
  ];
}

function nothingServed(shortages: readonly StageSupply[]): Error {
  return inputError(
    'TEXTS_TOO_SHORT',
    `Expected texts for at least one stage, got none: ${shortages.map((stage) => stage.shortage).join('; ')}`,
    'Import longer texts with `braid texts import`, or ask for shorter fragments.',
  );
}
