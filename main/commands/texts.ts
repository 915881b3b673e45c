/** `braid texts`: the corpus. */
import type { Command } from 'commander';
import { type CorpusStats, corpusStats } from '../services/datasets/corpus-stats.ts';
import { importIntoStore, type MergeResult, readTexts } from '../services/texts/index.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { chooseCorpus } from './corpus.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface TextsOptions {
  readonly minWords?: string;
  readonly train?: string;
  readonly test?: string;
}

/** Adds `texts import` and `texts stats`. */
export function registerTexts(program: Command): void {
  const texts = program.command('texts').description('the corpus of source texts');
  const chatOption = 'in a chat export, import answers of at least N words (default: 50)';
  withCommonOptions(texts.command('import'))
    .description('merge texts into the workspace: .json, .jsonl, .txt, .md, chat exports')
    .argument('<files...>')
    .option('--min-words <n>', chatOption)
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

function importFiles(files: readonly string[], options: TextsOptions, command: Command): void {
  const context = commandContext(command);
  const minWords = minWordsOf(options);
  const incoming = readTexts(files, minWords === undefined ? {} : { minWords });
  openWorkspace({ workspace: context.workspace.root });
  const store = openStore(context.workspace.database);
  try {
    report(importIntoStore(store, incoming), incoming.length, context);
  } finally {
    store.close();
  }
}

function report(merged: MergeResult, incoming: number, context: CommandContext): void {
  for (const { kind, title, resembles, similarity, kept } of merged.duplicates) {
    const how = kind === 'exact' ? 'is the same text as' : `is similar to (${Math.round(similarity * 100)} %)`;
    context.print(`  "${title}" ${how} "${resembles}": ${kept === 'new' ? 'longer, so it replaced it' : 'skipped'}`);
  }
  const words = merged.texts.reduce((sum, text) => sum + text.words, 0);
  context.print(
    `${merged.added.length} of ${incoming} texts added; the corpus has ${merged.texts.length} texts, ${words} words`,
  );
  context.out({
    added: merged.added.length,
    removed: merged.removed.map((text) => text.title),
    duplicates: merged.duplicates,
    texts: merged.texts.length,
    words,
    workspace: context.workspace.root,
  });
}

function showStats(files: readonly string[], options: TextsOptions, command: Command): void {
  const context = commandContext(command);
  const train = wholeNumber('--train', options.train ?? '512');
  const test = wholeNumber('--test', options.test ?? '64');
  const { origin, texts } = chooseCorpus(context, files, minWordsOf(options));
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
    `${stats.texts} texts (${origin}), ${stats.words} words; shortest ${stats.shortest}, median ${stats.median}, longest ${stats.longest}`,
    'words  texts  training  test',
    ...rows,
  ];
}
