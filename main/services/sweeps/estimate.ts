/** What a plan takes: runs, steps, seconds, disk. A pre-flight check measures each kind of step once. */
import {
  type StepPaces,
  secondsFrom,
  type TrainConfig,
  totalSteps,
  trainConfigSchema,
} from '../../trainer/config/config.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import { runTrainerJob } from '../trainer-process/job.ts';
import { checkpointBytes } from '../training/checkpoint-disk.ts';
import { rememberEstimate } from '../training/known-estimates.ts';
import type { LiveWorkspace } from '../training/live-runs.ts';
import { plannedStart } from '../training/planned-start.ts';
import type { JobContext } from '../workspace/jobs.ts';
import type { SweepDraft } from './draft.ts';

export interface SweepEstimate {
  readonly runs: number;
  readonly steps: number;
  readonly seconds: number;
  /** Of all checkpoints that are kept. */
  readonly diskBytes: number;
  /** Peak of the largest run. */
  readonly memoryBytes: number;
  /** Kinds of runs that were measured, of those that may differ in their cost. */
  readonly measured: number;
  readonly kinds: number;
}

/** Cost of one run. */
export interface RunMeasure extends StepPaces {
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

/** A check takes some ten seconds: of more kinds, those spread evenly over the plan are measured. */
const MOST_MEASURED = 4;

/** Settings that don't change what a step costs. */
const FREE: readonly (keyof TrainConfig)[] = [
  ...(['seed', 'learning_rate', 'lr_scheduler_type', 'warmup_steps', 'weight_decay', 'max_grad_norm'] as const),
  ...(['adam_beta1', 'adam_beta2', 'adam_epsilon', 'lora_alpha', 'temperature', 'epsilon', 'epsilon_high'] as const),
  ...(['delta', 'scale_rewards', 'kl_clamp', 'entropy_coef', 'reward_weights', 'shuffle_dataset'] as const),
  ...(['max_steps', 'warm_up_learning_rate'] as const),
  ...(['pause_on_collapse', 'collapse_patience', 'polychromic_lambda'] as const),
];

/** Runs whose steps cost the same have the same key; a KL term costs a pass, whatever its weight. */
export function costKey(config: TrainConfig): string {
  const free = Object.fromEntries(FREE.map((field) => [field, null]));
  return JSON.stringify({ ...config, ...free, beta: config.beta > 0, warm_up_steps: config.warm_up_steps > 0 });
}

/** The estimate of a draft; `measure` runs a check of one configuration. */
export async function estimateDraft(
  draft: SweepDraft,
  measure: (config: TrainConfig, done: number, total: number) => Promise<RunMeasure>,
): Promise<SweepEstimate> {
  const configs = draft.trials.map(({ config }) => trainConfigSchema.parse(config));
  const kinds = [...Map.groupBy(configs, costKey).values()].flatMap(([first]) => first ?? []);
  const chosen = spread(kinds, MOST_MEASURED);
  const measures = new Map<string, RunMeasure>();
  for (const [i, config] of chosen.entries()) measures.set(costKey(config), await measure(config, i, chosen.length));
  const known = [...measures.values()];
  const mean = (of: (one: RunMeasure) => number): number => known.reduce((sum, one) => sum + of(one), 0) / known.length;
  const usual = {
    secondsPerStep: mean((one) => one.secondsPerStep),
    secondsPerEvaluation: mean((one) => one.secondsPerEvaluation ?? 0),
    diskBytes: mean((one) => one.diskBytes),
  };
  const costs = configs.map((config) => measures.get(costKey(config)) ?? usual);
  const steps = configs.reduce((sum, config) => sum + totalSteps(config), 0);
  const seconds = configs.reduce((sum, config, i) => sum + secondsFrom(0, config, costs[i] ?? usual), 0);
  return {
    runs: configs.length,
    steps: draft.steps,
    measured: chosen.length,
    kinds: kinds.length,
    // Which settings successive halving stops isn't known: on average they cost as much as the others.
    seconds: steps === 0 ? 0 : (seconds * draft.steps) / steps,
    diskBytes: costs.reduce((sum, { diskBytes }) => sum + diskBytes, 0),
    memoryBytes: Math.max(...known.map(({ memoryBytes }) => memoryBytes)),
  };
}

function spread<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))] as T);
}

type Desk = Pick<LiveWorkspace, 'store' | 'paths'> & Partial<EngineAccess>;

/** Measures runs of a workspace by pre-flight checks. A trial that follows another is measured from the model. */
export function measureRuns({ store, paths, engines, secrets }: Desk, { signal, progress }: JobContext) {
  const access = engines === undefined || secrets === undefined ? undefined : { engines, secrets };
  return async (config: TrainConfig, done: number, total: number): Promise<RunMeasure> => {
    progress({ done, total, unit: 'kinds of runs' });
    const start = plannedStart(store, config, paths, access);
    const { backend, threads } = start.config;
    const job = { kind: 'preflight', ...start, backend, threads } as const;
    const place = { outputDir: '', resumeFrom: null, kernelsFile: paths.kernels, rewardWorker: paths.rewardWorker };
    const { value } = await runTrainerJob({ ...job, ...place }, paths.trainer, { signal });
    rememberEstimate(store, start.config, value.estimate);
    return {
      ...value.estimate,
      diskBytes: checkpointBytes(value.trainable, config),
    };
  };
}
