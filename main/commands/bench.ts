/** `braid bench`: times whole GRPO steps. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { type BenchReport, benchModel } from '../services/training/bench.ts';
import { hostPaths } from './host-paths.ts';
import { backendChoice, type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

interface BenchCommandOptions {
  readonly model: string;
  readonly prompts: string;
  readonly group: string;
  readonly words: string;
  readonly mode: string;
  readonly beta: string;
  readonly steps: string;
  readonly warmup: string;
}

const HELP = `
A step samples PROMPTS x GROUP completions of exactly 2 x WORDS + 4 tokens after prompts of random words of the model's
own vocabulary, scores them, and takes one optimiser step: the training loop itself, with nothing stored. LoRA: r 16,
alpha 32, all linear layers. dapo loss, learning rate 1e-5, temperature 1. tokens_per_s counts completion tokens.`;

/** Adds `bench` to the program. */
export function registerBench(program: Command): void {
  withCommonOptions(program.command('bench'))
    .description('time whole GRPO steps')
    .requiredOption('--model <dir>', 'model folder, or "tiny" for the bundled model')
    .option('--prompts <n>', 'prompts per step', '8')
    .option('--group <n>', 'completions per prompt', '16')
    .option('--words <n>', 'words per fragment', '10')
    .option('--mode <mode>', 'full (all weights) or lora', 'lora')
    .option('--beta <b>', 'KL coefficient; above 0 the reference model is scored too', '0')
    .option('--steps <n>', 'steps to time', '10')
    .option('--warmup <n>', 'untimed steps before', '2')
    .addHelpText('after', HELP)
    .action((options: BenchCommandOptions, command: Command) => bench(options, command));
}

async function bench(options: BenchCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const request = {
    model: options.model,
    mode: modeOf(options.mode),
    prompts: wholeNumber('--prompts', options.prompts),
    group: wholeNumber('--group', options.group, 2),
    words: wholeNumber('--words', options.words),
    beta: betaOf(options.beta),
    steps: wholeNumber('--steps', options.steps),
    warmup: wholeNumber('--warmup', options.warmup, 0),
    seed: context.seed,
    backend: backendChoice(context.backend),
    threads: context.threads,
    paths: hostPaths(),
  };
  const report = await followJob('timing', context, (job) => benchModel({ ...request, ...job }));
  if (report === null) return;
  print(context, report);
  context.out(report);
}

function modeOf(mode: string): 'full' | 'lora' {
  if (mode === 'full' || mode === 'lora') return mode;
  throw inputError('BAD_OPTION', `Expected --mode to be full or lora, got "${mode}"`);
}

function betaOf(text: string): number {
  const beta = Number(text);
  if (text.trim() !== '' && Number.isFinite(beta) && beta >= 0) return beta;
  throw inputError('BAD_OPTION', `Expected --beta to be a number of at least 0, got "${text}"`);
}

function print(context: CommandContext, report: BenchReport): void {
  const phases = Object.entries(report.phases).map(([name, seconds]) => `${name} ${seconds.toFixed(3)}`);
  context.print(
    `${report.median_s.toFixed(3)} s per step (median; ${report.min_s.toFixed(3)} to ${report.max_s.toFixed(3)}) on ${report.backend}, ${report.threads} threads`,
  );
  context.print(`by phase, in seconds: ${phases.join(', ')}`);
  context.print(
    `${Math.round(report.tokens_per_s)} completion tokens/s; ${report.params} parameters, ${report.trainable_params} trained; peak memory ${Math.round(report.peak_memory_mb)} MiB`,
  );
}
