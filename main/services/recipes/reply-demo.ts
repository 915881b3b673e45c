/**
 * The reply system end to end, on the bundled model or another: replies split for two phases, supervised and polychromic
 * fine-tuning on the first, GRPO and polychromic GRPO on the second from the supervised checkpoint, and all four compared
 * on held-out posts.
 */
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { compareModels, type ModelComparison } from '../comparisons/sampled/compare.ts';
import { passThresholds } from '../comparisons/sampled/measures.ts';
import { type ComparisonFiles, writeComparison } from '../comparisons/sampled/write.ts';
import { type SplitOutcome, type SplitRequest, splitReplyFile } from '../datasets/reply-split/split-file.ts';
import { seedRunName } from '../runs/seed-groups.ts';
import type { RunOutcome } from '../training/run-outcome.ts';
import { type LiveRun, startTraining, type TrainToEnd } from '../training/training.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type ReplyRun, replyFields, replyRuns } from './reply-presets.ts';

export interface ReplyDemoOptions {
  readonly paths: HostPaths;
  readonly seed: number;
  readonly backend: TrainConfig['backend'];
  readonly threads: number;
  /** Output folder for split and comparison. */
  readonly output: string;
  /** Fields that override the presets', for instance another model. */
  readonly fields?: Partial<TrainConfig>;
  /** Reply records and held-out ones; by default the bundled sample. */
  readonly dataset?: { readonly train: string; readonly test: string };
  readonly onPart?: (part: 'split' | ReplyRun | 'comparison') => void;
  readonly onProgress?: (done: number, total: number) => void;
  readonly onEvents?: (events: readonly TrainerEvent[]) => void;
  readonly onRun?: (run: LiveRun) => void;
  readonly signal?: AbortSignal;
  /** How a host that shows its runs trains; by default a separate trainer for each. */
  readonly train?: TrainToEnd;
  /** How to split; by default in this process. */
  readonly split?: (request: SplitRequest) => Promise<SplitOutcome>;
  /** The runs' names without the seed; by default the presets' names. */
  readonly experiment?: (run: ReplyRun) => string;
}

export interface ReplyDemoResult {
  readonly split: SplitOutcome['split'];
  readonly outcomes: readonly { readonly run: ReplyRun; readonly outcome: RunOutcome }[];
  /** null if a run was stopped early. */
  readonly comparison: ModelComparison | null;
  readonly files: ComparisonFiles | null;
}

/** The share of the records that the supervised phase gets. */
export const DEMO_RATIO = 0.5;

/** Runs everything; runs stay in the workspace's history. If a run is stopped, it ends without a comparison. */
export async function runReplyDemo(store: Store, options: ReplyDemoOptions): Promise<ReplyDemoResult> {
  const { paths, seed, backend, threads, output } = options;
  const dataset = options.dataset ?? {
    train: join(paths.datasets, 'sample_replies.jsonl'),
    test: join(paths.datasets, 'sample_replies.test.jsonl'),
  };
  options.onPart?.('split');
  const request: SplitRequest = { input: dataset.train, folder: output, ratio: DEMO_RATIO, seed };
  const { split, files } = await (options.split?.(request) ?? splitReplyFile(request.input, output, request));

  const outcomes: { run: ReplyRun; outcome: RunOutcome }[] = [];
  const checkpoints = new Map<ReplyRun, string>();
  for (const run of replyRuns) {
    options.onPart?.(run);
    const reinforced = run === 'grpo_from_baseline' || run === 'polychromic_grpo';
    const fields = {
      ...replyFields(store, run, options.fields ?? {}, paths),
      ...options.fields,
      dataset: reinforced ? files.grpo : files.sft,
      eval_dataset: dataset.test,
      from_checkpoint: reinforced ? (checkpoints.get('baseline') ?? null) : (options.fields?.from_checkpoint ?? null),
      seed,
      backend,
      threads,
    };
    const outcome = await train(store, parseConfig(fields, run), run, options);
    outcomes.push({ run, outcome });
    if (outcome.state !== 'done' || outcome.checkpoint === null)
      return { split, outcomes, comparison: null, files: null };
    checkpoints.set(run, outcome.checkpoint);
  }

  options.onPart?.('comparison');
  const models = [...checkpoints].map(([name, folder]) => ({ name, folder }));
  const relevanceModel = options.fields?.relevance_model ?? null;
  const made = await compareReplies(models, { ...options, relevanceModel, dataset: dataset.test });
  return { split, outcomes, ...made };
}

export type ReplyComparisonOptions = Pick<
  ReplyDemoOptions,
  'paths' | 'seed' | 'backend' | 'threads' | 'output' | 'onProgress' | 'signal'
> & { readonly dataset: string; readonly relevanceModel?: string | null };

/** Compares models on held-out posts as the complete system does, and writes the report. */
export async function compareReplies(
  models: readonly { readonly name: string; readonly folder: string }[],
  { dataset, relevanceModel = null, paths, seed, backend, threads, output, onProgress, signal }: ReplyComparisonOptions,
): Promise<{ readonly comparison: ModelComparison; readonly files: ComparisonFiles }> {
  const comparison = await compareModels({
    models,
    dataset,
    task: 'reply',
    relevanceModel,
    paths,
    samples: 10,
    k: [1, 5, 10],
    threshold: passThresholds.reply,
    temperature: 1,
    seed,
    backend,
    threads,
    onProgress: ({ done, total }) => onProgress?.(done, total),
    ...(signal && { signal }),
  });
  return { comparison, files: await writeComparison(comparison, output, paths) };
}

async function train(
  store: Store,
  config: TrainConfig,
  name: ReplyRun,
  options: ReplyDemoOptions,
): Promise<RunOutcome> {
  const experiment = options.experiment?.(name) ?? name;
  const outcome = await begin(store, config, seedRunName(experiment, config.seed), options);
  if (outcome.error !== null) throw outcome.error;
  if (outcome.state === 'done' && outcome.checkpoint === null)
    throw new BraidError('NO_CHECKPOINT', `Run ${outcome.runId} (${name}) ended without a checkpoint`);
  return outcome;
}

function begin(store: Store, config: TrainConfig, name: string, options: ReplyDemoOptions): Promise<RunOutcome> {
  if (options.train !== undefined) return options.train(config, name);
  const { paths, onEvents } = options;
  const run = startTraining(store, config, { paths, name, ...(onEvents && { onEvents }) });
  options.onRun?.(run);
  return run.outcome;
}
