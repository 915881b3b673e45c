/** What would happen if a run were started now: asked of a trainer process, and said line by line. */
import { existsSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { BraidError } from '../errors.ts';
import type { TrainConfig } from '../trainer/config.ts';
import type { Sample } from '../trainer/events.ts';
import type { PreflightResult } from '../trainer/preflight-job.ts';
import type { App } from './app.ts';
import { knownDiskSpace } from './disk-space.ts';
import { type Check, fail } from './doctor/check.ts';
import { droppedCheckpoint } from './from-checkpoint.ts';
import type { JobContext } from './jobs.ts';
import { preflightChecks, rewardsByGroup } from './preflight-checks.ts';
import type { Promotion } from './promotion.ts';
import { runTrainerJob } from './trainer-job.ts';
import { plannedStart } from './training.ts';

export interface Preflight {
  readonly checks: readonly Check[];
  /** What was sampled, where it came so far. */
  readonly sampled: SampledGroups | null;
  readonly secondsPerStep: number | null;
  readonly seconds: number | null;
}

export interface SampledGroups {
  /** Rewards of each group's completions. */
  readonly groups: readonly (readonly number[])[];
  readonly best: Sample | null;
  readonly worst: Sample | null;
}

/** What a look needs of the app. */
type Desk = Pick<App, 'store' | 'paths' | 'live' | 'workspace'>;

/** How often a look begins anew because the checkpoint that it starts from went meanwhile. */
const MOST_LOOKS = 3;

/**
 * Looks at a run without starting it. Whatever is wrong becomes a line: only an end by the person is thrown. A run
 * that still trains drops old checkpoints: `plan` is asked again where the one to start from went during the look.
 */
export async function preflight(
  desk: Desk,
  plan: () => TrainConfig,
  rule: Promotion | null,
  context: JobContext,
): Promise<Preflight> {
  for (let looks = 1; ; looks++) {
    let from: string | null = null;
    try {
      const start = plannedStart(desk.store, plan(), desk.paths);
      from = start.config.from_checkpoint;
      return await look(desk, start, rule, context);
    } catch (error) {
      if (!(error instanceof BraidError) || error.code === 'INTERRUPTED') throw error;
      const isGone = from !== null && !existsSync(from);
      if (isGone && looks < MOST_LOOKS) continue;
      const problem = isGone ? droppedCheckpoint(desk.store, from ?? '') : null;
      return { checks: [refused(problem ?? error)], sampled: null, secondsPerStep: null, seconds: null };
    }
  }
}

async function look(
  { paths, live, workspace }: Desk,
  start: ReturnType<typeof plannedStart>,
  rule: Promotion | null,
  { signal, progress }: JobContext,
): Promise<Preflight> {
  const { backend, threads } = start.config;
  const job = { kind: 'preflight', ...start, backend, threads } as const;
  const place = { outputDir: '', resumeFrom: null, kernelsFile: paths.kernels };
  const { value } = await runTrainerJob({ ...job, ...place }, paths.trainer, { signal, onProgress: progress });
  const machine = {
    ...{ freeMemory: freemem(), memory: totalmem(), freeDisk: knownDiskSpace(workspace.root)?.freeBytes ?? null },
    training: live.list().map(({ name }) => name),
  };
  return {
    checks: preflightChecks(value, start.config, rule, machine),
    sampled: value.samples.length === 0 ? null : sampledGroups(value),
    secondsPerStep: value.estimate.secondsPerStep,
    seconds: value.estimate.seconds,
  };
}

/** The run would end with the same words. */
function refused(error: BraidError): Check {
  const next = error.remedy ?? 'Adjust the stage and check again.';
  if (error.code !== 'OUT_OF_MEMORY' && error.code !== 'TRAINER_DIED') return fail('Start', error.message, next);
  return fail('Memory', error.message, 'Take a smaller per_device_train_batch_size, LoRA, or a smaller model.');
}

function sampledGroups({ samples }: PreflightResult): SampledGroups {
  const ordered = samples.toSorted((a, b) => b.reward - a.reward);
  return { groups: rewardsByGroup(samples), best: ordered[0] ?? null, worst: ordered.at(-1) ?? null };
}
