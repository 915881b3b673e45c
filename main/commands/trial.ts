/** `braid trial`: the small-scale test before a long run. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { BraidError } from '../errors.ts';
import { type ConfigFields, readConfigChoice } from '../services/config/presets.ts';
import { type ReplyRun, type ReplyStart, replyFields } from '../services/recipes/reply-presets.ts';
import { runTrial, type TrialResult } from '../services/recipes/trial.ts';
import { remember } from '../services/replies/stored-state.ts';
import { markAbandonedRuns } from '../services/runs/runs.ts';
import type { RunOutcome } from '../services/training/run-outcome.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { counted, formatDuration } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { INTERRUPTED } from './interrupt.ts';
import {
  backendChoice,
  type CommandContext,
  commandContext,
  encoderFolder,
  wholeNumber,
  withCommonOptions,
} from './shared.ts';
import { openTrainingScreen } from './training-screen.ts';

interface TrialCommandOptions {
  readonly dataset: string;
  readonly sft?: string;
  readonly config?: string;
  readonly model?: string;
  readonly relevanceModel?: string;
  readonly examples: string;
  readonly sftSteps: string;
  readonly steps: string;
}

/** Adds `trial` to the program. */
export function registerTrial(program: Command): void {
  withCommonOptions(program.command('trial'))
    .requiredOption('--dataset <file>', 'reply records (JSONL)')
    .option('--sft <config>', 'configuration of the warm-up: a file or preset (default: baseline for the model)')
    .option('--config <config>', 'configuration of GRPO: a file or preset (default: that of the warm-up model)')
    .option('--model <dir>', 'the model for both, overriding the configurations')
    .option('--relevance-model <dir>', 'sentence encoder that judges relevance (default: as configured)')
    .option('--examples <n>', 'records to use', '100')
    .option('--sft-steps <n>', 'supervised steps', '100')
    .option('--steps <n>', 'GRPO steps', '30')
    .action((options: TrialCommandOptions, command: Command) => trial(options, command));
}

async function trial(options: TrialCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const paths = hostPaths();
  const machine = { backend: backendChoice(context.backend), threads: context.threads };
  const model = options.model === undefined ? {} : { model: options.model };
  const encoder = encoderFolder(options.relevanceModel);
  const relevance = encoder === null ? {} : { relevance_model: encoder };
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  const screen = openTrainingScreen(context);
  const outcomes: Promise<RunOutcome>[] = [];
  try {
    markAbandonedRuns(store);
    const fields = (choice: string | undefined, run: ReplyRun, start: ReplyStart): ConfigFields =>
      choice === undefined ? replyFields(store, run, start, paths) : readConfigChoice(choice, paths);
    const sft = fields(options.sft, 'baseline', model);
    const trained = options.model ?? sft.model;
    const grpo = fields(options.config, 'grpo_from_baseline', typeof trained === 'string' ? { model: trained } : {});
    const result = await runTrial(store, {
      paths,
      dataset: resolve(options.dataset),
      sft: { ...sft, ...machine, ...model, ...relevance },
      grpo: { ...grpo, ...machine, ...model, ...relevance },
      seed: context.seed,
      examples: wholeNumber('--examples', options.examples),
      sftSteps: wholeNumber('--sft-steps', options.sftSteps),
      grpoSteps: wholeNumber('--steps', options.steps),
      onPart: (part) => screen.part(part === 'sft' ? 'Supervised warm-up.' : 'GRPO from there.'),
      onEvents: screen.onEvents,
      onRun: (run) => {
        screen.onRun(run);
        outcomes.push(run.outcome);
      },
    });
    screen.end();
    remember(store, { trial: { ...result, at: store.now() } });
    report(result, context);
    const ended = await Promise.all(outcomes);
    if (ended.some(({ state }) => state === 'stopped')) process.exitCode = INTERRUPTED;
    else if (!result.go)
      throw new BraidError('NO_GO', 'The small-scale test says no-go', {
        remedy: 'Fix what failed, then test again.',
      });
  } finally {
    screen.end();
    store.close();
  }
}

function report(result: TrialResult, context: CommandContext): void {
  for (const { ok, name, detail } of result.criteria) context.print(`${ok ? 'OK  ' : 'FAIL'} ${name}: ${detail}`);
  for (const { completion, reward } of result.samples) context.print(`     ${reward.toFixed(3)}  ${completion}`);
  const { go, examples, seconds, criteria, runIds, samples } = result;
  context.print(`${go ? 'GO' : 'NO-GO'}: ${counted(examples, 'example')} in ${formatDuration(seconds)}.`);
  if (go) context.print('For what else a long run needs: braid train --config CONFIG --checklist.');
  context.out({ go, examples, seconds, criteria, run_ids: runIds, samples, workspace: context.workspace.root });
}
