/** `braid evaluate`: a model's greedy completions of held-out records. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isReplyDataset } from '../services/datasets/detect-task.ts';
import {
  defaultBatchSize,
  type Evaluations,
  evaluateFolderTask,
  evaluateModels,
  evaluateReplies,
  type ModelEvaluation,
  type RewardEvaluation,
} from '../services/evaluation/evaluate.ts';
import { interleaveRow, rememberEvaluation, rewardRow } from '../services/evaluation/history.ts';
import type { MeanWithInterval } from '../services/evaluation/summary.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { checkpointTask } from '../services/tasks/run-task.ts';
import type { JobOptions } from '../services/trainer-process/job.ts';
import type { TaskSource } from '../tasks/index.ts';
import { counted, formatDuration } from '../text/format.ts';
import { allowedAccess, type ConsentOptions, paidLine, withConsentOptions } from './consent-options.ts';
import { hostPaths } from './host-paths.ts';
import { namedCheckpoint } from './named-checkpoint.ts';
import {
  backendChoice,
  type CommandContext,
  commandContext,
  encoderFolder,
  STOP_STRINGS,
  stopStrings,
  wholeNumber,
  withCommonOptions,
} from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

interface EvaluateCommandOptions extends ConsentOptions {
  readonly model: string;
  readonly dataset: string;
  readonly task?: string;
  readonly base?: string;
  readonly relevanceModel?: string;
  readonly batch: string;
  readonly maxCompletionLength?: string;
  readonly stopStrings?: readonly string[];
}

/** Adds `evaluate` to the program. */
export function registerEvaluate(program: Command): void {
  withConsentOptions(withCommonOptions(program.command('evaluate')))
    .requiredOption('--model <dir>', 'model folder, checkpoint, or a name of `braid models list`')
    .requiredOption('--dataset <file>', 'held-out records (JSONL), for instance 10words.test.jsonl')
    .option('--task <name>', "the records' task: a name or a folder (default: the checkpoint's own, or by the records)")
    .option('--base <dir>', "base model of a LoRA checkpoint, if it isn't where the checkpoint says")
    .option('--relevance-model <dir>', 'replies: sentence encoder that judges relevance (default: by words)')
    .option('--batch <n>', 'records decoded together', String(defaultBatchSize))
    .option(
      '--max-completion-length <n>',
      "tokens (default: from the records' longest target, or as a checkpoint was trained)",
    )
    .option('--stop-strings <texts...>', STOP_STRINGS)
    .action((options: EvaluateCommandOptions, command: Command) => evaluate(options, command));
}

async function evaluate(given: EvaluateCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const options = { ...given, model: namedCheckpoint(context, given.model) };
  const { model, dataset, base, maxCompletionLength: length } = options;
  const request = {
    models: [{ name: model, folder: model, ...(base === undefined ? {} : { base }) }],
    dataset,
    paths: hostPaths(),
    backend: backendChoice(context.backend),
    threads: context.threads,
    seed: context.seed,
    relevanceModel: encoderFolder(options.relevanceModel),
    stopStrings: stopStrings(options.stopStrings),
    batchSize: wholeNumber('--batch', options.batch),
    ...(length === undefined ? {} : { maxCompletionLength: wholeNumber('--max-completion-length', length) }),
  };
  const task = taskOf(options, context);
  if (typeof task === 'object') {
    const rewardAccess = allowedAccess(task, options, context);
    const evaluation = (job: JobOptions) => evaluateFolderTask(task, { ...request, rewardAccess, ...job });
    return evaluateByReward(task.name, evaluation, options, context);
  }
  if (task === 'reply') {
    const evaluation = (job: JobOptions) => evaluateReplies({ ...request, ...job });
    return evaluateByReward('reply', evaluation, options, context);
  }
  const done = await followJob('evaluating', context, (job) => evaluateModels({ ...request, ...job }));
  const result = done?.results[0];
  if (done === null || result === undefined) return;
  remember(context, options, interleaveRow(result));
  printTable(context, result, done.backend);
  const { n, mean_alignment, low, high, exact_match, by_words } = result.summary;
  context.out({
    task: 'interleave',
    n,
    mean_alignment,
    low,
    high,
    exact_match,
    by_words,
    ...limitFields(result),
    items: result.items.map(({ id, completion, alignment }) => ({ id, completion, alignment })),
    backend: done.backend,
    seconds: result.seconds,
  });
}

/** The task that is asked for, otherwise that of the checkpoint's run, otherwise what the records look like. */
function taskOf({ task, model, dataset }: EvaluateCommandOptions, context: CommandContext): TaskSource {
  if (task !== undefined) return findTask(task, { workspace: context.workspace.root, paths: hostPaths() });
  return checkpointTask(resolve(model)) ?? (isReplyDataset(dataset) ? 'reply' : 'interleave');
}

async function evaluateByReward(
  task: string,
  evaluation: (job: Required<JobOptions>) => Promise<Evaluations<RewardEvaluation>>,
  options: EvaluateCommandOptions,
  context: CommandContext,
): Promise<void> {
  const done = await followJob('evaluating', context, evaluation);
  const result = done?.results[0];
  if (done === null || result === undefined) return;
  remember(context, options, rewardRow(result));
  const { summary, items, seconds, rewardCost } = result;
  const { mean_reward: mean, low, high, measures } = summary;
  const { success } = measures;
  const [answers, prompts] = task === 'reply' ? ['replies', 'posts'] : ['completions', 'prompts'];
  const rows = [['reward', { mean, low, high }] as const, ...Object.entries(summary.measures)].map(([name, part]) => [
    name,
    part.mean.toFixed(3),
    `${part.low.toFixed(3)}–${part.high.toFixed(3)}`,
  ]);
  for (const line of tableLines([`greedy ${answers}`, 'mean', '95% interval'], rows)) context.print(line);
  context.print(`${items.length} ${prompts} in ${formatDuration(seconds)} on ${done.backend}`);
  context.print(cutOffLine(result));
  if (rewardCost !== undefined) context.print(paidLine(rewardCost));
  context.out({
    task,
    ...summary,
    ...(success !== undefined && { success_rate: success.mean }),
    ...(rewardCost !== undefined && { reward_cost: rewardCost }),
    ...limitFields(result),
    items: items.map(({ id, completion, metrics }, i) => {
      const messages = result.conversations?.[i] ?? null;
      return { id, completion, ...(messages !== null && { messages }), ...metrics };
    }),
    backend: done.backend,
    seconds,
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

type Limited = Pick<ModelEvaluation, 'cut' | 'maxCompletionLength'>;

function limitFields({ cut, maxCompletionLength: max_completion_length }: Limited) {
  return { max_completion_length, cut_off: cut };
}

function cutOffLine({ cut, maxCompletionLength }: Limited): string {
  const more = cut === 0 ? '' : '; --max-completion-length allows more';
  return `${cut} cut off at ${maxCompletionLength} tokens${more}`;
}

function printTable(context: CommandContext, result: ModelEvaluation, backend: string): void {
  const { summary, items, seconds } = result;
  const rows = Object.entries(summary.by_words).map(([words, part]) => [words, ...cells(part)]);
  const all = rows.length > 1 ? [['all', ...cells(summary)]] : [];
  for (const line of tableLines(['words', 'n', 'alignment', '95% interval', 'exact'], [...rows, ...all]))
    context.print(line);
  const worst = items.reduce(
    (low, item) => (item.alignment < low.alignment ? item : low),
    items[0] ?? { alignment: 0, id: '' },
  );
  const lowest = worst === undefined ? '' : `; lowest: ${worst.id} (${worst.alignment.toFixed(3)})`;
  context.print(`${counted(items.length, 'prompt')} in ${formatDuration(seconds)} on ${backend}${lowest}`);
  context.print(cutOffLine(result));
}

function cells({ n, mean_alignment, low, high, exact_match }: MeanWithInterval): [number, string, string, string] {
  return [n, mean_alignment.toFixed(3), `${low.toFixed(3)}–${high.toFixed(3)}`, exact_match.toFixed(3)];
}
