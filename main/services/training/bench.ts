/** Times whole GRPO steps on this machine. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { median } from '../../text/intervals.ts';
import type { BenchJob, BenchResult } from '../../trainer/jobs/bench.ts';
import { resolveModel } from '../models/resolve.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Roofline, rooflineOf } from './roofline.ts';

export type BenchOptions = JobOptions &
  Omit<BenchJob, 'kind' | 'timed' | 'modelFolder' | 'kernelsFile'> & {
    /** A full model: its folder or the name of a bundled one. */
    readonly model: string;
    readonly paths: HostPaths;
  };

/** Times in seconds; field names as in `--json`. */
export interface BenchReport {
  readonly median_s: number;
  readonly min_s: number;
  readonly max_s: number;
  /** Median CPU seconds, all threads together. */
  readonly cpu_s: number;
  readonly backend: string;
  readonly threads: number;
  /** Median of each phase of a step. */
  readonly phases: Readonly<Record<string, number>>;
  /** Completion tokens sampled and trained on, per second of the median step. */
  readonly tokens_per_s: number;
  readonly peak_memory_mb: number;
  readonly params: number;
  readonly trainable_params: number;
  /** Where the time of the timed steps went; null unless asked for. */
  readonly roofline: Roofline | null;
}

/** Times GRPO steps on a model. */
export async function benchModel({
  model,
  paths,
  onProgress,
  onWarning,
  signal,
  ...settings
}: BenchOptions): Promise<BenchReport> {
  const modelFolder = resolveModel(model, paths);
  if (!existsSync(join(modelFolder, 'config.json')))
    throw inputError('BAD_OPTION', `${modelFolder}: expected a full model, got a LoRA adapter`, 'Give its base model.');
  const { roofline: timed } = settings;
  const job: BenchJob = { kind: 'bench', ...settings, timed, modelFolder, kernelsFile: paths.kernels };
  const follow = {
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
    ...(signal && { signal }),
  };
  const { value, backend, threads } = await runTrainerJob(job, paths.trainer, follow);
  return { ...report(value), backend, threads };
}

function report({ times, ...result }: BenchResult): Omit<BenchReport, 'backend' | 'threads'> {
  const seconds = times.map((time) => time.seconds).sort((a, b) => a - b);
  const phase = (name: string): number => median(times.map(({ phases }) => phases[`time/${name}`] ?? 0));
  const middle = median(seconds);
  return {
    median_s: middle,
    min_s: seconds[0] ?? Number.NaN,
    max_s: seconds.at(-1) ?? Number.NaN,
    cpu_s: median(times.map(({ cpuSeconds }) => cpuSeconds)),
    phases: Object.fromEntries(['rollout', 'reward', 'loss', 'optimizer'].map((name) => [name, phase(name)])),
    tokens_per_s: result.completionTokens / middle,
    peak_memory_mb: result.peakMemoryMb,
    params: result.parameters,
    trainable_params: result.trainable,
    roofline: result.roofline === null ? null : rooflineOf(result.roofline, times),
  };
}
