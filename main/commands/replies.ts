/** `braid replies`: the reply system end to end, by default on the bundled sample and model. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { numbersOf } from '../services/comparisons/sampled/write.ts';
import { datasetFiles } from '../services/datasets/index.ts';
import { DEMO_RATIO, type ReplyDemoResult, runReplyDemo } from '../services/recipes/reply-demo.ts';
import { replyRuns } from '../services/recipes/reply-presets.ts';
import { keepSplit } from '../services/replies/keep-split.ts';
import { remember, replyFolder, reportIn } from '../services/replies/stored-state.ts';
import { markAbandonedRuns } from '../services/runs/runs.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { formatDuration } from '../text/format.ts';
import { printComparison } from './compare.ts';
import { hostPaths } from './host-paths.ts';
import { openProgress, type Progress } from './progress.ts';
import {
  backendChoice,
  type CommandContext,
  commandContext,
  encoderFolder,
  wholeNumber,
  withCommonOptions,
} from './shared.ts';
import { openTrainingScreen } from './training-screen.ts';

/** Adds `replies` to the program. */
export function registerReplies(program: Command): void {
  withCommonOptions(program.command('replies'))
    .option('--model <dir>', 'a model other than the bundled one: a Hugging Face folder, or a bundled name')
    .option('--dataset <file>', 'other reply records (JSONL); the .test.jsonl next to it is held out')
    .option('--relevance-model <dir>', 'sentence encoder that judges relevance (default: by words)')
    .option('--steps <n>', 'optimiser steps of each method (default: its preset)')
    .option('--output <dir>', "folder for split and report (default: the workspace's outputs/replies-seed<seed>)")
    .action((options: RepliesOptions, command: Command) => replies(options, command));
}

interface RepliesOptions {
  readonly output?: string;
  readonly model?: string;
  readonly dataset?: string;
  readonly steps?: string;
  readonly relevanceModel?: string;
}

const WORDS = {
  split: 'Splitting the replies.',
  baseline: 'Baseline: supervised fine-tuning.',
  polychromic: 'Polychromic: supervised fine-tuning with a diversity term.',
  grpo_from_baseline: 'GRPO from the baseline.',
  polychromic_grpo: 'Polychromic GRPO from the baseline.',
  comparison: 'Comparing all four on held-out posts.',
} as const;

async function replies(options: RepliesOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const began = performance.now();
  const dataset = options.dataset === undefined ? undefined : testFileOf(options.dataset);
  const fields = {
    ...(options.model !== undefined && { model: options.model }),
    ...(options.steps !== undefined && { max_steps: wholeNumber('--steps', options.steps) }),
    relevance_model: encoderFolder(options.relevanceModel),
  };
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const output = resolve(options.output ?? replyFolder(workspace, context.seed));
  const store = openStore(workspace.database);
  const screen = openTrainingScreen(context);
  let bar: Progress | null = null;
  try {
    markAbandonedRuns(store);
    const paths = hostPaths();
    // The app's Replies page starts single methods from the same records.
    if (dataset === undefined) keepSplit({ store, workspace, paths }, { ratio: DEMO_RATIO, seed: context.seed });
    else context.print("The app's Replies page keeps its own records: import the dataset there to use it.");
    const result = await runReplyDemo(store, {
      paths,
      seed: context.seed,
      backend: backendChoice(context.backend),
      threads: context.threads,
      output,
      fields,
      ...(dataset !== undefined && { dataset }),
      onPart: (part) => screen.part(WORDS[part]),
      onEvents: screen.onEvents,
      onRun: screen.onRun,
      onProgress: (done, total) => {
        bar ??= openProgress({ label: 'sampling', total, unit: 'prompts' }, context.quiet);
        bar.update(done);
      },
    });
    screen.end();
    (bar as Progress | null)?.end();
    // The app's Replies page shows it, like one of its own.
    if (result.files !== null) remember(store, { report: reportIn({ store, workspace }, output) });
    report(result, (performance.now() - began) / 1000, context);
  } finally {
    screen.end();
    store.close();
  }
}

/** A comparison needs posts that no run has trained on. */
function testFileOf(file: string) {
  const files = datasetFiles(resolve(file));
  if (existsSync(files.test)) return files;
  throw inputError(
    'BAD_OPTION',
    `${files.test}: expected held-out records next to the dataset, but the file doesn't exist`,
    'Hold some records out: braid split --split-ratio 0.9 splits a file in two; give the smaller one this name.',
  );
}

function report(
  { outcomes, comparison, files, split }: ReplyDemoResult,
  seconds: number,
  context: CommandContext,
): void {
  context.out({
    seconds: Number(seconds.toFixed(1)),
    checks: split.checks,
    runs: outcomes.map(({ run, outcome }) => ({
      name: run,
      run_id: outcome.runId,
      state: outcome.state,
      steps: outcome.step,
      checkpoint: outcome.checkpoint,
    })),
    comparison: comparison === null ? null : numbersOf(comparison),
    files,
    workspace: context.workspace.root,
  });
  if (comparison === null || files === null) {
    context.print(`Stopped in run ${outcomes.length} of ${replyRuns.length}; finished runs are in the history.`);
    process.exitCode = 130;
    return;
  }
  printComparison(comparison, context);
  context.print(`${replyRuns.length} runs and the comparison in ${formatDuration(seconds)}. Report: ${files.report}`);
}
