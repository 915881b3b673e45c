/**
 * The small-scale test: a hundred examples through the whole pipeline (split, supervised warm-up, GRPO from there)
 * before paying for a long run, and four criteria that decide go or no-go.
 */
import { join } from 'node:path';
import type { Store } from '../../store/index.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { type TrialRecords, type TrialRequest, writeTrialRecords } from '../datasets/reply-split/trial-records.ts';
import type { RunOutcome } from '../training/run-outcome.ts';
import { type LiveRun, startTraining, type TrainToEnd } from '../training/training.ts';
import { rememberTrial } from '../training/trial-memory.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Criterion, type TrialCurves, trialCriteria } from './trial-criteria.ts';

export type { Criterion } from './trial-criteria.ts';

export interface TrialOptions {
  readonly paths: HostPaths;
  /** Reply records (JSONL). */
  readonly dataset: string;
  /** Fields of the two runs; their datasets, steps and the second one's starting point are replaced. */
  readonly sft: Partial<TrainConfig>;
  readonly grpo: Partial<TrainConfig>;
  readonly seed: number;
  readonly examples?: number;
  readonly sftSteps?: number;
  readonly grpoSteps?: number;
  readonly onPart?: (part: 'sft' | 'grpo') => void;
  readonly onEvents?: (events: readonly TrainerEvent[]) => void;
  readonly onRun?: (run: LiveRun) => void;
  /** How a host that shows its runs trains; by default a separate trainer for each. */
  readonly train?: TrainToEnd;
  /** How to write the records of both runs; by default in this process. */
  readonly write?: (request: TrialRequest) => Promise<TrialRecords>;
}

export interface TrialResult {
  readonly go: boolean;
  readonly criteria: readonly Criterion[];
  readonly examples: number;
  readonly seconds: number;
  readonly runIds: readonly number[];
  /** Some of the final completions, for the user to read. */
  readonly samples: readonly { readonly prompt: string; readonly completion: string; readonly reward: number }[];
}

const EXAMPLES = 100;

/** Runs the test in the workspace's history; stopping a run makes it a no-go. */
export async function runTrial(store: Store, options: TrialOptions): Promise<TrialResult> {
  const began = performance.now();
  const { paths, seed, dataset, examples = EXAMPLES } = options;
  const write = options.write ?? (async (request: TrialRequest) => writeTrialRecords(request));
  const records = await write({ dataset, examples, seed, folder: join(store.folder, 'datasets') });
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
    dataset: records.sft,
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
          dataset: records.grpo,
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
  const model = options.sft.from_checkpoint ?? options.sft.model ?? 'tiny';
  rememberTrial(store, { go, at: Date.now(), model });
  return {
    go,
    criteria,
    examples: records.examples,
    seconds: (performance.now() - began) / 1000,
    runIds: outcomes.map(({ runId }) => runId),
    samples: last.slice(0, 5).map(({ prompt, completion, reward }) => ({ prompt, completion, reward })),
  };
}

function curveOf(store: Store, runId: number, metric: string): number[] {
  return store.metrics.series(runId, metric).map(({ value }) => value);
}

function lastSamples(store: Store, runId: number) {
  const step = store.samples.steps(runId).at(-1);
  return step === undefined ? [] : store.samples.byStep(runId, step);
}
