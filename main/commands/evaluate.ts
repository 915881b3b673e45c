/** `braid evaluate`: a model's greedy completions of held-out records. */
import type { Command } from 'commander';
import { isReplyDataset } from '../services/datasets/detect-task.ts';
import {
  defaultBatchSize,
  type EvaluateOptions,
  evaluateModels,
  evaluateReplies,
  type ModelEvaluation,
} from '../services/evaluation/evaluate.ts';
import { interleaveRow, rememberEvaluation, replyRow } from '../services/evaluation/history.ts';
import type { MeanWithInterval } from '../services/evaluation/summary.ts';
import type { JobOptions } from '../services/trainer-process/job.ts';
import type { ReplyRecord } from '../tasks/reply/record.ts';
import { formatDuration } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { backendChoice, type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

interface EvaluateCommandOptions {
  readonly model: string;
  readonly dataset: string;
  readonly base?: string;
  readonly batch: string;
  readonly maxCompletionLength?: string;
}

/** Adds `evaluate` to the program. */
export function registerEvaluate(program: Command): void {
  withCommonOptions(program.command('evaluate'))
    .description(
      'evaluate a model on held-out records with greedy completions: alignment with the targets, or the reward of replies',
    )
    .requiredOption('--model <dir>', 'model folder, checkpoint, or "tiny" for the bundled model')
    .requiredOption(
      '--dataset <file>',
      'held-out records (JSONL) of interleaving or of replies, for instance 10words.test.jsonl',
    )
    .option('--base <dir>', "base model of a LoRA checkpoint, if it isn't where the checkpoint says")
    .option('--batch <n>', 'records decoded together', String(defaultBatchSize))
    .option('--max-completion-length <n>', "tokens (default: from the records' longest target)")
    .action((options: EvaluateCommandOptions, command: Command) => evaluate(options, command));
}

async function evaluate(options: EvaluateCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const { model, dataset, base, maxCompletionLength: length } = options;
  const request = {
    models: [{ name: model, folder: model, ...(base === undefined ? {} : { base }) }],
    dataset,
    paths: hostPaths(),
    backend: backendChoice(context.backend),
    threads: context.threads,
    seed: context.seed,
    batchSize: wholeNumber('--batch', options.batch),
    ...(length === undefined ? {} : { maxCompletionLength: wholeNumber('--max-completion-length', length) }),
  };
  if (isReplyDataset(dataset)) return evaluateTheReplies(request, options, context);
  const done = await followJob('evaluating', context, (job) => evaluateModels({ ...request, ...job }));
  const result = done?.results[0];
  if (done === null || result === undefined) return;
  remember(context, options, interleaveRow(result));
  printTable(context, result, done.backend);
  const { n, mean_alignment, low, high, exact_match, by_words } = result.summary;
  context.out({
    ...{ task: 'interleave', n, mean_alignment, low, high, exact_match, by_words },
    items: result.items.map(({ id, completion, alignment }) => ({ id, completion, alignment })),
    ...{ backend: done.backend, seconds: result.seconds },
  });
}

async function evaluateTheReplies(
  request: Omit<EvaluateOptions<ReplyRecord>, keyof JobOptions>,
  options: EvaluateCommandOptions,
  context: CommandContext,
): Promise<void> {
  const done = await followJob('evaluating', context, (job) => evaluateReplies({ ...request, ...job }));
  const result = done?.results[0];
  if (done === null || result === undefined) return;
  remember(context, options, replyRow(result));
  const { summary, items, seconds } = result;
  const { mean_reward: mean, low, high } = summary;
  const rows = [['reward', { mean, low, high }] as const, ...Object.entries(summary.measures)].map(([name, part]) => [
    name,
    part.mean.toFixed(3),
    `${part.low.toFixed(3)}–${part.high.toFixed(3)}`,
  ]);
  for (const line of tableLines(['greedy replies', 'mean', '95 % interval'], rows)) context.print(line);
  context.print(`${items.length} posts in ${formatDuration(seconds)} on ${done.backend}`);
  context.out({
    ...{ task: 'reply', ...summary },
    items: items.map(({ id, completion, metrics }) => ({ id, completion, ...metrics })),
    ...{ backend: done.backend, seconds },
  });
}

/** A failure to write the history must not lose the result. */
function remember(
  context: CommandContext,
  options: EvaluateCommandOptions,
  result: Parameters<typeof rememberEvaluation>[3],
): void {
  try {
    const runId = rememberEvaluation(context.workspace, options.model, options.dataset, result);
    if (runId !== null) context.say(`Saved to the history of run ${runId}.`);
  } catch (error) {
    context.say(`Not saved to the history: ${(error as Error).message}`);
  }
}

function printTable(context: CommandContext, { summary, items, seconds }: ModelEvaluation, backend: string): void {
  const rows = Object.entries(summary.by_words).map(([words, part]) => [words, ...cells(part)]);
  const all = rows.length > 1 ? [['all', ...cells(summary)]] : [];
  for (const line of tableLines(['words', 'n', 'alignment', '95 % interval', 'exact'], [...rows, ...all]))
    context.print(line);
  const worst = items.reduce(
    (low, item) => (item.alignment < low.alignment ? item : low),
    items[0] ?? { alignment: 0, id: '' },
  );
  const lowest = worst === undefined ? '' : `; lowest: ${worst.id} (${worst.alignment.toFixed(3)})`;
  context.print(`${items.length} prompts in ${formatDuration(seconds)} on ${backend}${lowest}`);
}

function cells({ n, mean_alignment, low, high, exact_match }: MeanWithInterval): [number, string, string, string] {
  return [n, mean_alignment.toFixed(3), `${low.toFixed(3)}–${high.toFixed(3)}`, exact_match.toFixed(3)];
}
