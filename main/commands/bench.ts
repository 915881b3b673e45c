/** `braid bench`: times whole GRPO steps. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { rooflineChart } from '../services/figures/roofline.ts';
import { type BenchReport, benchModel } from '../services/training/bench.ts';
import type { Roofline } from '../services/training/roofline.ts';
import { counted } from '../text/format.ts';
import { BASE_WEIGHTS, COMPUTE_DTYPES } from '../trainer/config/config.ts';
import { hostPaths } from './host-paths.ts';
import { rooflineLines } from './roofline-table.ts';
import { backendChoice, type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

interface BenchCommandOptions {
  readonly model: string;
  readonly prompts: string;
  readonly group: string;
  readonly words: string;
  readonly mode: string;
  readonly beta: string;
  readonly baseWeights: string;
  readonly computeDtype: string;
  readonly steps: string;
  readonly warmup: string;
  readonly roofline?: boolean;
  readonly svg?: string;
}

const HELP = `
A step samples PROMPTS x GROUP completions of exactly 2 x WORDS + 4 tokens after prompts of random words of the model's
own vocabulary, scores them, and takes one optimiser step: the training loop itself, with nothing stored. LoRA: r 16,
alpha 32, all linear layers. dapo loss, learning rate 1e-5, temperature 1. tokens_per_s counts completion tokens.
--roofline slows steps down: each op is measured, on a GPU by its own clock.`;

/** Adds `bench` to the program. */
export function registerBench(program: Command): void {
  withCommonOptions(program.command('bench'))
    .requiredOption('--model <dir>', 'model folder, or a name of `braid models list`')
    .option('--prompts <n>', 'prompts per step', '8')
    .option('--group <n>', 'completions per prompt', '16')
    .option('--words <n>', 'words per fragment', '10')
    .option('--mode <mode>', 'full (all weights) or lora', 'lora')
    .option('--beta <b>', 'KL coefficient; above 0 the reference model is scored too', '0')
    .option('--base-weights <dtype>', `frozen weights under LoRA: ${BASE_WEIGHTS.join(', ')}`, 'auto')
    .option('--compute-dtype <dtype>', `products of weights: ${COMPUTE_DTYPES.join(', ')}`, 'float32')
    .option('--steps <n>', 'steps to time', '10')
    .option('--warmup <n>', 'untimed steps before', '2')
    .option('--roofline', "each op's time, FLOP and bytes beside what this machine can do at best")
    .option('--svg <file>', 'the roofline as a figure, too')
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
    baseWeights: dtypeOf('--base-weights', BASE_WEIGHTS, options.baseWeights),
    computeDtype: dtypeOf('--compute-dtype', COMPUTE_DTYPES, options.computeDtype),
    steps: wholeNumber('--steps', options.steps),
    warmup: wholeNumber('--warmup', options.warmup, 0),
    roofline: options.roofline === true || options.svg !== undefined,
    seed: context.seed,
    backend: backendChoice(context.backend),
    threads: context.threads,
    paths: hostPaths(),
  };
  const report = await followJob('timing', context, (job) => benchModel({ ...request, ...job }));
  if (report === null) return;
  print(context, report);
  if (report.roofline !== null) {
    context.print(['', ...rooflineLines(report.roofline)].join('\n'));
    if (options.svg !== undefined) {
      writeFileAtomic(options.svg, figure(report.roofline, `${options.model}, ${options.mode}, ${report.backend}`));
      context.print(`\n${options.svg}: the roofline as a figure`);
    }
  }
  context.out(report);
}

function figure({ ops, peak_gflops, peak_gb_per_s }: Roofline, title: string): string {
  const points = ops.map(({ op, sizes, phase, ...work }) => ({ name: `${op} ${sizes}`.trim(), group: phase, ...work }));
  return rooflineChart({ title, points, peakFlops: 1e9 * peak_gflops, peakBytes: 1e9 * peak_gb_per_s });
}

function modeOf(mode: string): 'full' | 'lora' {
  if (mode === 'full' || mode === 'lora') return mode;
  throw inputError('BAD_OPTION', `Expected --mode to be full or lora, got "${mode}"`);
}

function dtypeOf<T extends string>(option: string, all: readonly T[], name: string): T {
  const dtype = all.find((known) => known === name);
  if (dtype !== undefined) return dtype;
  throw inputError('BAD_OPTION', `Expected ${option} to be one of ${all.join(', ')}, got "${name}"`);
}

function betaOf(text: string): number {
  const beta = Number(text);
  if (text.trim() !== '' && Number.isFinite(beta) && beta >= 0) return beta;
  throw inputError('BAD_OPTION', `Expected --beta to be a number of at least 0, got "${text}"`);
}

function print(context: CommandContext, report: BenchReport): void {
  const phases = Object.entries(report.phases).map(([name, seconds]) => `${name} ${seconds.toFixed(3)}`);
  context.print(
    `${report.median_s.toFixed(3)} s per step (median; ${report.min_s.toFixed(3)} to ${report.max_s.toFixed(3)}) on ${report.backend}, ${counted(report.threads, 'thread')}`,
  );
  context.print(`by phase, in seconds: ${phases.join(', ')}`);
  context.print(
    `${Math.round(report.tokens_per_s)} completion tokens/s; ${report.params} parameters, ${report.trainable_params} trained; peak memory ${Math.round(report.peak_memory_mb)} MiB`,
  );
}
