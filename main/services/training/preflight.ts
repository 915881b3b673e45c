/**
 * The pre-flight check, of the app and of `train --checklist`: what a run needs is checked, and a trainer process tries
 * what it would do. Each finding becomes a line.
 */
import { existsSync } from 'node:fs';
import { BraidError } from '../../errors.ts';
import { knownDiskSpace } from '../../io/disk-space.ts';
import { hostMemory } from '../../io/memory.ts';
import type { Sample } from '../../samples/sample.ts';
import type { DatasetLeakage } from '../../store/datasets.ts';
import { reaches } from '../../text/intervals.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { PreflightResult } from '../../trainer/jobs/preflight.ts';
import type { RunEstimate } from '../../trainer/protocol/start.ts';
import { countLeakage } from '../datasets/leakage.ts';
import { type Check, fail } from '../doctor/check.ts';
import { type EngineAccess, whileInUse } from '../engines/engine-for.ts';
import { openEngineFile, requireEngine } from '../engines/engines.ts';
import { droppedCheckpoint } from '../runs/from-checkpoint.ts';
import type { Promotion } from '../runs/promotion.ts';
import type { Servers } from '../servers/servers.ts';
import type { TextWorkers } from '../text-worker/workers.ts';
import { interrupted, runTrainerJob } from '../trainer-process/job.ts';
import type { JobContext } from '../workspace/jobs.ts';
import { checklist, checkOf } from './checklist.ts';
import { rememberEstimate } from './known-estimates.ts';
import type { LiveWorkspace } from './live-runs.ts';
import { plannedStart } from './planned-start.ts';
import { preflightChecks } from './preflight-checks.ts';
import { rewardsByGroup, type StartAdvice, startAdvice } from './start-advice.ts';

export interface Preflight {
  readonly checks: readonly Check[];
  /** Whether to start, to warm up first, or to use another dataset; null: nothing was sampled. */
  readonly advice: StartAdvice | null;
  /** The samples, if it got that far. */
  readonly sampled: SampledGroups | null;
  readonly secondsPerStep: number | null;
  readonly seconds: number | null;
  /** The held-out score, if it meets the stage's rule already. */
  readonly met: number | null;
  /** The engine whose server has to be started first, which can be done from here; null: none. */
  readonly startFirst: string | null;
}

export interface SampledGroups {
  /** Rewards of each group's completions. */
  readonly groups: readonly (readonly number[])[];
  readonly best: Sample | null;
  readonly worst: Sample | null;
}

/** The parts of the app that the check needs. */
type Desk = Pick<LiveWorkspace, 'store' | 'paths' | 'workspace'> &
  EngineAccess & {
    readonly live: Pick<LiveWorkspace['live'], 'list'>;
    readonly library: { readonly workers: Pick<TextWorkers, 'run'> };
    /** By default no server can be started from here. */
    readonly servers?: Pick<Servers, 'isMissing'>;
  };

/** Retries when the starting checkpoint was deleted meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Checks a run without starting it. Every problem becomes a line; only a cancellation throws. A run that is still
 * training deletes old checkpoints: `plan` is called again if the starting checkpoint was deleted during the check.
 */
export async function preflight(
  desk: Desk,
  plan: () => TrainConfig,
  rule: Promotion | null,
  context: JobContext,
): Promise<Preflight> {
  for (let looks = 1; ; looks++) {
    let from: string | null = null;
    let planned: TrainConfig | null = null;
    try {
      planned = plan();
      const start = plannedStart(desk.store, planned, desk.paths, desk);
      from = start.config.from_checkpoint;
      planned = { ...planned, max_steps: start.config.max_steps };
      const missing = await missingServer(desk, start.engine?.name ?? null);
      if (missing !== null) return { ...missing, checks: await withItems(desk, planned, missing.checks, context) };
      const { report, estimate } = await look(desk, start, rule, context);
      // The run itself asks with its paths resolved; its stage knows only the plan.
      for (const config of [start.config, planned]) rememberEstimate(desk.store, config, estimate);
      return { ...report, checks: await withItems(desk, planned, report.checks, context) };
    } catch (error) {
      // Whichever of its parts notices the cancellation first.
      if (context.signal.aborted) throw interrupted();
      if (!(error instanceof BraidError) || error.code === 'INTERRUPTED') throw error;
      const isGone = from !== null && !existsSync(from);
      if (isGone && looks < MAX_ATTEMPTS) continue;
      const problem = isGone ? droppedCheckpoint(desk.store, from ?? '') : null;
      const checks = [refused(problem ?? error)];
      return { ...NOTHING, checks: planned === null ? checks : await withItems(desk, planned, checks, context) };
    }
  }
}

/** The findings, then what a run needs besides: what was measured goes before what was estimated. */
async function withItems(
  { store, paths, library }: Desk,
  config: TrainConfig,
  found: readonly Check[],
  { signal }: JobContext,
): Promise<readonly Check[]> {
  try {
    const items = await checklist(store, config, paths, (input) =>
      library.workers.run('recordFacts', input, { signal }),
    );
    const needed = items.map(checkOf).filter(({ name }) => !found.some((check) => check.name === name));
    // What is missing has a line of its own; why the start was refused knows better what to do.
    const isSame = (line: Check) => (other: Check) => other.detail === line.detail;
    const others = found.filter((line) => !needed.some(isSame(line)));
    return [...others, ...needed.map((line) => ({ ...line, next: found.find(isSame(line))?.next ?? line.next }))];
  } catch (error) {
    if (signal.aborted) throw interrupted();
    if (!(error instanceof BraidError)) throw error;
    return found;
  }
}

const NOTHING = { advice: null, sampled: null, secondsPerStep: null, seconds: null, met: null, startFirst: null };

/** What to say where the engine's server can be started from here, and isn't up; null otherwise. */
async function missingServer({ engines, servers }: Desk, name: string | null): Promise<Preflight | null> {
  if (name === null || servers === undefined) return null;
  const entry = requireEngine(engines ?? openEngineFile(), name);
  if (!(await servers.isMissing(entry))) return null;
  const seen = `nothing answers at ${entry.url}`;
  const check = fail(`Server of ${name}`, seen, 'Launch the server; the check runs again once it answers.');
  return { ...NOTHING, checks: [check], startFirst: name };
}

async function look(
  { paths, live, workspace, library, records }: Desk,
  start: ReturnType<typeof plannedStart>,
  rule: Promotion | null,
  { signal, progress }: JobContext,
): Promise<{ readonly report: Preflight; readonly estimate: RunEstimate }> {
  const { backend, threads } = start.config;
  const job = { kind: 'preflight', ...start, backend, threads } as const;
  const place = { outputDir: '', resumeFrom: null, kernelsFile: paths.kernels, rewardWorker: paths.rewardWorker };
  // What fails first ends the other, too: a job that has failed may leave no trainer behind it.
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const both = [
    whileInUse(start.engine ?? null, records === undefined ? {} : { records }, () =>
      runTrainerJob({ ...job, ...place }, paths.trainer, { signal: either, onProgress: progress }),
    ),
    leakageIn(library.workers, start, either),
  ] as const;
  const [{ value }, leakage] = await Promise.all(both).catch(async (error: unknown) => {
    ending.abort();
    await Promise.allSettled(both);
    throw error;
  });
  const memory = hostMemory();
  const machine = {
    freeMemory: memory.freeBytes,
    memory: memory.totalBytes,
    freeDisk: knownDiskSpace(workspace.root)?.freeBytes ?? null,
    training: live.list().map(({ name }) => name),
  };
  const report = {
    checks: preflightChecks(value, start.config, rule, machine, leakage),
    advice: value.samples.length === 0 ? null : startAdvice(value, start.config),
    sampled: value.samples.length === 0 ? null : sampledGroups(value),
    secondsPerStep: value.estimate.secondsPerStep,
    seconds: value.estimate.seconds,
    met:
      rule !== null && value.heldOut !== null && reaches(value.heldOut.mean, rule.at_least) ? value.heldOut.mean : null,
    startFirst: null,
  };
  return { report, estimate: value.estimate };
}

/** What held-out and training records of these settings share; null where there is nothing to compare. */
export async function leakageIn(
  workers: Pick<TextWorkers, 'run'>,
  { task, config: { dataset, eval_dataset } }: Pick<ReturnType<typeof plannedStart>, 'task' | 'config'>,
  signal: AbortSignal,
): Promise<DatasetLeakage | null> {
  if (eval_dataset === null) return null;
  return countLeakage(await workers.run('checkLeakage', { train: dataset, test: eval_dataset, task }, { signal }));
}

/** The run would fail with the same message. */
function refused(error: BraidError): Check {
  const next = error.remedy ?? 'Adjust the stage and check again.';
  if (error.code !== 'OUT_OF_MEMORY' && error.code !== 'TRAINER_DIED') return fail('Start', error.message, next);
  return fail('Memory', error.message, 'Use a smaller per_device_train_batch_size, LoRA, or a smaller model.');
}

function sampledGroups({ samples }: PreflightResult): SampledGroups {
  const ordered = samples.toSorted((a, b) => b.reward - a.reward);
  return { groups: rewardsByGroup(samples), best: ordered[0] ?? null, worst: ordered.at(-1) ?? null };
}
