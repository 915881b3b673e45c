/**
 * The small-scale test: a hundred examples through the whole pipeline (split, supervised warm-up, reinforcement from
 * there) before a long run is paid for, and four criteria that say go or no-go.
 */
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { hashString, randomStream, shuffled } from '../random.ts';
import type { Store } from '../store/index.ts';
import type { ReplyRecord } from '../tasks/reply/record.ts';
import { replyTask } from '../tasks/reply/task.ts';
import { parseConfig, type TrainConfig } from '../trainer/config.ts';
import type { TrainerEvent } from '../trainer/events.ts';
import { writeFilesAtomic } from './atomic-write.ts';
import { readDataset, toJsonLines } from './datasets.ts';
import type { HostPaths } from './paths.ts';
import { splitReplies } from './replies/split.ts';
import { type LiveRun, type RunOutcome, startTraining, type TrainToEnd } from './training.ts';
import { type Criterion, type TrialCurves, trialCriteria } from './trial/criteria.ts';

export type { Criterion } from './trial/criteria.ts';

export interface TrialOptions {
  readonly paths: HostPaths;
  /** Reply records (JSONL). */
  readonly dataset: string;
  /** Fields of the two runs; what they name as dataset, start and steps is replaced. */
  readonly sft: Partial<TrainConfig>;
  readonly grpo: Partial<TrainConfig>;
  readonly seed: number;
  readonly examples?: number;
  readonly sftSteps?: number;
  readonly grpoSteps?: number;
  readonly onPart?: (part: 'sft' | 'grpo') => void;
  readonly onEvents?: (events: readonly TrainerEvent[]) => void;
  readonly onRun?: (run: LiveRun) => void;
  /** How a host that shows its runs trains; by default a trainer of its own for each. */
  readonly train?: TrainToEnd;
}

export interface TrialResult {
  readonly go: boolean;
  readonly criteria: readonly Criterion[];
  readonly examples: number;
  readonly seconds: number;
  readonly runIds: readonly number[];
  /** Some of the last completions, to be read by a person. */
  readonly samples: readonly { readonly prompt: string; readonly completion: string; readonly reward: number }[];
}

/** The newest trial of a workspace, as the checklist asks for it. */
export interface TrialMemory {
  readonly go: boolean;
  readonly at: number;
  readonly model: string;
}

const EXAMPLES = 100;
const KEY = 'trial';

/** Runs the test in the workspace's history; stopping a run on the way makes it a no-go. */
export async function runTrial(store: Store, options: TrialOptions): Promise<TrialResult> {
  const began = performance.now();
  const { paths, seed, examples = EXAMPLES } = options;
  const records = someRecords(readDataset(options.dataset, replyTask), examples, seed);
  const files = writeSides(store, records, seed);
  const train = (part: 'sft' | 'grpo', fields: Partial<TrainConfig>): Promise<RunOutcome> => {
    options.onPart?.(part);
    const config = parseConfig({ ...fields, task: 'reply', seed }, `small-scale test, ${part}`);
    if (options.train !== undefined) return options.train(config, `trial-${part}`);
    const run = startTraining(store, config, {
      paths,
      name: `trial-${part}`,
      ...(options.onEvents && { onEvents: options.onEvents }),
    });
    options.onRun?.(run);
    return run.outcome;
  };

  const sft = await train('sft', {
    ...options.sft,
    dataset: files.sft,
    from_checkpoint: null,
    max_steps: options.sftSteps ?? 100,
    save_steps: options.sftSteps ?? 100,
  });
  const warm = sft.state === 'done' ? sft.checkpoint : null;
  const steps = options.grpoSteps ?? 30;
  const grpo =
    warm === null
      ? null
      : await train('grpo', {
          ...options.grpo,
          dataset: files.grpo,
          from_checkpoint: warm,
          max_steps: steps,
          save_steps: steps,
          sample_steps: steps,
        });
  const outcomes = grpo === null ? [sft] : [sft, grpo];
  const last = grpo === null ? [] : lastSamples(store, grpo.runId);
  const curves: TrialCurves = {
    sft: curveOf(store, sft.runId, 'loss'),
    grpo: grpo === null ? [] : curveOf(store, grpo.runId, 'reward'),
  };
  const criteria = trialCriteria({ ...curves, outcomes, samples: last });
  const go = criteria.every(({ ok }) => ok);
  const model = options.sft.model ?? 'tiny';
  store.settings.set(KEY, { go, at: Date.now(), model } satisfies TrialMemory);
  return {
    go,
    criteria,
    examples: records.length,
    seconds: (performance.now() - began) / 1000,
    runIds: outcomes.map(({ runId }) => runId),
    samples: last.slice(0, 5).map(({ prompt, completion, reward }) => ({ prompt, completion, reward })),
  };
}

/** The newest trial; null when none was made. */
export function newestTrial(store: Pick<Store, 'settings'>): TrialMemory | null {
  return (store.settings.get(KEY) as TrialMemory | undefined) ?? null;
}

function someRecords(records: readonly ReplyRecord[], count: number, seed: number): ReplyRecord[] {
  const chosen = shuffled(records, randomStream(seed, hashString('trial'))).slice(0, count);
  if (chosen.length >= 8) return chosen;
  throw inputError('TRIAL_TOO_SMALL', `Expected at least 8 records for a small-scale test, got ${chosen.length}`);
}

function writeSides(store: Store, records: readonly ReplyRecord[], seed: number) {
  const { sft, grpo } = splitReplies(records, { ratio: 0.5, seed });
  const folder = join(store.folder, 'datasets');
  const files = { sft: join(folder, 'trial_phase1_sft.jsonl'), grpo: join(folder, 'trial_phase2_grpo.jsonl') };
  writeFilesAtomic([
    { path: files.sft, content: toJsonLines(sft) },
    { path: files.grpo, content: toJsonLines(grpo) },
  ]);
  return files;
}

function curveOf(store: Store, runId: number, metric: string): number[] {
  return store.metrics.series(runId, metric).map(({ value }) => value);
}

function lastSamples(store: Store, runId: number) {
  const step = store.samples.steps(runId).at(-1);
  return step === undefined ? [] : store.samples.byStep(runId, step);
}
