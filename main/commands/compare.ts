/** `braid compare`: the comprehensive comparison of a baseline with trained models. */
import { basename, dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { type CompareOptions, compareModels, type ModelComparison } from '../services/comparisons/sampled/compare.ts';
import { passThresholds } from '../services/comparisons/sampled/measures.ts';
import { cutOffInWords } from '../services/comparisons/sampled/report.ts';
import { numbersOf, writeComparison } from '../services/comparisons/sampled/write.ts';
import { detectTask } from '../services/datasets/detect-task.ts';
import type { ModelChoice } from '../services/evaluation/evaluate.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { checkpointTask } from '../services/tasks/run-task.ts';
import { parseDefinition, TASK_FILE } from '../tasks/folder/definition.ts';
import type { TaskSource } from '../tasks/index.ts';
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

interface CompareCommandOptions extends ConsentOptions {
  readonly baseline: string;
  readonly trained: readonly string[];
  readonly dataset: string;
  readonly output: string;
  readonly samples: string;
  readonly k?: string;
  readonly threshold?: string;
  readonly temperature: string;
  readonly maxCompletionLength?: string;
  readonly stopStrings?: readonly string[];
  readonly base?: string;
  readonly task?: string;
  readonly relevanceModel?: string;
}

/** Adds `compare` to the program. */
export function registerCompare(program: Command): void {
  withConsentOptions(withCommonOptions(program.command('compare')))
    .requiredOption('--baseline <model>', 'folder, checkpoint or bundled model; NAME=FOLDER gives it a name')
    .option('--trained <models...>', 'one or more other models; if omitted, only the baseline is evaluated', [])
    .requiredOption('--dataset <file>', 'held-out records (JSONL)')
    .requiredOption('--output <dir>', 'folder for report.md, comparison.json, figures/ and data/')
    .option('--samples <n>', 'completions per prompt', '10')
    .option('--k <list>', 'the k of pass@k (default: 1, 5 and 10 below the samples, and these)')
    .option(
      '--threshold <x>',
      `what a completion needs to pass (replies: reward ${passThresholds.reply}; interleave: alignment ${passThresholds.interleave})`,
    )
    .option('--temperature <x>', 'sampling temperature', '1')
    .option('--max-completion-length <n>', 'tokens (default: from the longest target, or as a checkpoint was trained)')
    .option('--stop-strings <texts...>', STOP_STRINGS)
    .option('--task <name>', "the records' task: a name or a folder (default: the checkpoint's own, or by the records)")
    .option('--base <dir>', "base model of LoRA checkpoints, if it isn't where they say")
    .option('--relevance-model <dir>', 'replies: sentence encoder that judges relevance (default: by words)')
    .action((options: CompareCommandOptions, command: Command) => compare(options, command));
}

async function compare(options: CompareCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const dataset = resolve(options.dataset);
  const task = taskOf(options, dataset, context);
  const { maxCompletionLength: length } = options;
  const namedChoice = (given: string, base: string | undefined): ModelChoice => {
    const choice = choiceOf(given, base);
    return { ...choice, folder: namedCheckpoint(context, choice.folder) };
  };
  const samples = wholeNumber('--samples', options.samples);
  const request: CompareOptions = {
    models: [options.baseline, ...options.trained].map((given) => namedChoice(given, options.base)),
    dataset,
    task,
    paths: hostPaths(),
    rewardAccess: allowedAccess(task, options, context),
    relevanceModel: encoderFolder(options.relevanceModel),
    samples,
    k: passesOf(options, samples),
    threshold: options.threshold === undefined ? thresholdOf(task) : number('--threshold', options.threshold),
    temperature: number('--temperature', options.temperature),
    ...(length === undefined ? {} : { maxCompletionLength: wholeNumber('--max-completion-length', length) }),
    stopStrings: stopStrings(options.stopStrings),
    seed: context.seed,
    backend: backendChoice(context.backend),
    threads: context.threads,
  };
  const comparison = await followJob('sampling', context, (job) => compareModels({ ...request, ...job }));
  if (comparison === null) return;
  const files = await writeComparison(comparison, resolve(options.output), request.paths);
  printComparison(comparison, context);
  if (comparison.rewardCost !== null) context.print(paidLine(comparison.rewardCost));
  context.print(`Report: ${files.report}`);
  context.out({ ...numbersOf(comparison), files });
}

/** The k of pass@k, in order. */
function passesOf({ k }: Pick<CompareCommandOptions, 'k'>, samples: number): number[] {
  const given = k?.split(',').map((part) => wholeNumber('--k', part.trim()));
  const usual = [1, 5, 10].filter((one) => one < samples);
  return [...new Set(given ?? [...usual, samples])].sort((a, b) => a - b);
}

/** The task that is asked for, otherwise that of a trained checkpoint's run, otherwise what the records look like. */
function taskOf({ task, trained, baseline }: CompareCommandOptions, dataset: string, context: CommandContext) {
  if (task !== undefined) return findTask(task, { workspace: context.workspace.root, paths: hostPaths() });
  const kept = [...trained, baseline].map((given) =>
    checkpointTask(resolve(namedCheckpoint(context, choiceOf(given, undefined).folder))),
  );
  return kept.find((source) => source !== null) ?? detectTask(dataset);
}

/** What a completion needs to pass: of a folder's task what its task.yaml calls a success. */
function thresholdOf(task: TaskSource): number {
  if (typeof task === 'string') return passThresholds[task === 'reply' ? 'reply' : 'interleave'];
  return parseDefinition(`${task.folder}/${TASK_FILE}`, task.definition).success_threshold;
}

/** Prints the table of a comparison. */
export function printComparison(comparison: ModelComparison, context: CommandContext): void {
  const { models, rows } = comparison;
  const cells = rows.map(({ measure, means, winner }) => [
    measure.name,
    ...means.map(({ mean, low, high }) => `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`),
    winner ?? '–',
  ]);
  for (const line of tableLines(['', ...models.map(({ name }) => name), 'winner'], cells)) context.print(line);
  context.print(cutOffInWords(comparison));
}

/** NAME=FOLDER, or a folder, which is named after its last path parts. */
function choiceOf(given: string, base: string | undefined): ModelChoice {
  const [, name, folder] = /^([^=/\\]+)=(.+)$/.exec(given) ?? [];
  const own = /^checkpoint-\d+$/.test(basename(given))
    ? `${basename(dirname(given))}/${basename(given)}`
    : basename(given);
  return { name: name ?? own, folder: folder ?? given, ...(base === undefined ? {} : { base }) };
}

function number(option: string, value: string): number {
  const parsed = Number(value);
  if (value.trim() !== '' && Number.isFinite(parsed)) return parsed;
  throw inputError('BAD_OPTION', `Expected ${option} to be a number, got "${value}"`);
}
