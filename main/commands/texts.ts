/** `braid texts`: the corpus. */
import type { Command } from 'commander';
import { describeFault, faultsError } from '../io/text-file.ts';
import { type CorpusStats, corpusStats } from '../services/datasets/corpus-stats.ts';
import { TEXT_TYPES } from '../services/texts/file-types.ts';
import { importIntoStore, type MergeResult } from '../services/texts/index.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { counted } from '../text/format.ts';
import { chooseCorpus, readFiles } from './corpus.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface TextsOptions {
  readonly minWords?: string;
  readonly train?: string;
  readonly test?: string;
  readonly splitHeadings?: boolean;
  readonly skipBad?: boolean;
}

/** Adds `texts import` and `texts stats`. */
export function registerTexts(program: Command): void {
  const texts = program.command('texts');
  const chatOption = 'in a chat export, import answers of at least N words (default: 50)';
  withCommonOptions(texts.command('import'))
    .description(`merge texts into the workspace: ${TEXT_TYPES} files, chat exports, folders and zips of them`)
    .argument('<files...>')
    .option('--min-words <n>', chatOption)
    .option('--split-headings', 'split prose, Markdown and documents at their headings')
    .option('--skip-bad', 'import the good texts although others have errors; the errors are listed')
    .action((files: string[], options: TextsOptions, command: Command) => importFiles(files, options, command));
  withCommonOptions(texts.command('stats'))
    .description(
      'how many texts are long enough for each word count (in these files, the workspace, or the bundled texts)',
    )
    .argument('[files...]')
    .option('--min-words <n>', chatOption)
    .option('--train <n>', 'training pairs wanted per stage', '512')
    .option('--test <n>', 'test pairs wanted per stage', '64')
    .action((files: string[], options: TextsOptions, command: Command) => showStats(files, options, command));
}

function minWordsOf(options: TextsOptions): number | undefined {
  return options.minWords === undefined ? undefined : wholeNumber('--min-words', options.minWords);
}

async function importFiles(files: readonly string[], options: TextsOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const read = await readFiles(files, { minWords: minWordsOf(options), splitAtHeadings: options.splitHeadings });
  const faults = read.files.flatMap((file) => file.faults);
  if (faults.length > 0 && options.skipBad !== true)
    throw faultsError('BAD_TEXTS', faults, 'Nothing was imported. Fix these and import again, or use --skip-bad.');
  for (const fault of faults) context.print(`  skipped: ${describeFault(fault)}`);
  if (read.skipped > 0) context.print(`  ${counted(read.skipped, 'other file')} skipped`);
  const incoming = read.files.flatMap(({ texts }) => texts);
  openWorkspace({ workspace: context.workspace.root });
  const store = openStore(context.workspace.database);
  try {
    report(importIntoStore(store, incoming), { incoming: incoming.length, faults: faults.length }, context);
  } finally {
    store.close();
  }
}

interface Read {
  readonly incoming: number;
  readonly faults: number;
}

function report(merged: MergeResult, { incoming, faults }: Read, context: CommandContext): void {
  for (const { kind, title, resembles, similarity, kept } of merged.duplicates) {
    const how = kind === 'exact' ? 'is the same text as' : `is similar to (${Math.round(similarity * 100)}%)`;
    context.print(`  "${title}" ${how} "${resembles}": ${kept === 'new' ? 'longer, so it replaced it' : 'skipped'}`);
  }
  const words = merged.texts.reduce((sum, text) => sum + text.words, 0);
  context.print(
    `${merged.added.length} of ${counted(incoming, 'text')} added; the corpus has ${counted(merged.texts.length, 'text')}, ${counted(words, 'word')}`,
  );
  context.out({
    added: merged.added.length,
    removed: merged.removed.map((text) => text.title),
    duplicates: merged.duplicates.map(({ place: _, ...duplicate }) => duplicate),
    faults,
    texts: merged.texts.length,
    words,
    workspace: context.workspace.root,
  });
}

async function showStats(files: readonly string[], options: TextsOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const train = wholeNumber('--train', options.train ?? '512');
  const test = wholeNumber('--test', options.test ?? '64');
  const { origin, texts } = await chooseCorpus(context, files, minWordsOf(options));
  const stats = corpusStats(texts, { train, test, seed: context.seed });
  for (const line of statsLines(stats, origin)) context.print(line);
  context.out({ origin, ...stats });
}

function statsLines(stats: CorpusStats, origin: string): string[] {
  const rows = stats.stages.map((stage) =>
    [
      String(stage.words).padStart(5),
      String(stage.texts).padStart(5),
      String(stage.training_texts).padStart(8),
      String(stage.test_texts).padStart(4),
      `  ${stage.shortage === null ? 'ready' : `short: ${stage.shortage}`}`,
    ].join('  '),
  );
  return [
    `${counted(stats.texts, 'text')} (${origin}), ${counted(stats.words, 'word')}; shortest ${stats.shortest}, median ${stats.median}, longest ${stats.longest}`,
    ...(stats.unspaced === 0 ? [] : [unspacedLine(stats.unspaced)]),
    'words  texts  training  test',
    ...rows,
  ];
}

function unspacedLine(texts: number): string {
  return `words without spaces between them (Chinese, Japanese, Thai …) were found by Unicode's segmentation, in ${counted(texts, 'text')}`;
}
