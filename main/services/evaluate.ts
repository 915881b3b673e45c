/** Held-out evaluation: several models answer the same records greedily, in one trainer process. */
import { inputError } from '../errors.ts';
import type { InterleaveRecord } from '../tasks/interleave/record.ts';
import { interleaveTask } from '../tasks/interleave/task.ts';
import type { EvaluationItem } from '../trainer/events.ts';
import { holdsReplies } from './compare/detect-task.ts';
import { readDataset } from './datasets.ts';
import { type EvaluationSummary, type ScoredItem, summarizeEvaluation } from './evaluations.ts';
import { resolveModelParts } from './models.ts';
import type { HostPaths } from './paths.ts';
import { type JobOptions, runTrainerJob } from './trainer-job.ts';

/** A model to evaluate: a folder, the name of a bundled model, or a checkpoint. */
export interface ModelChoice {
  readonly name: string;
  readonly folder: string;
  /** The base of a LoRA checkpoint, where its own configuration doesn't lead to it. */
  readonly base?: string;
}

export interface EvaluateOptions extends JobOptions {
  readonly models: readonly ModelChoice[];
  /** Records, or the JSONL file that holds them. */
  readonly dataset: string | readonly InterleaveRecord[];
  readonly paths: HostPaths;
  readonly backend?: 'auto' | 'native' | 'wasm';
  /** 0: all cores. */
  readonly threads?: number;
  /** Records decoded together. */
  readonly batchSize?: number;
  /** In tokens; by default computed from the records' longest target. */
  readonly maxCompletionLength?: number;
  /** Decides the bootstrap's resamples. */
  readonly seed?: number;
}

export interface ModelEvaluation {
  readonly name: string;
  readonly items: readonly ScoredItem[];
  readonly summary: EvaluationSummary;
  readonly seconds: number;
}

export interface Evaluations {
  readonly backend: string;
  readonly threads: number;
  /** In the order of the models. */
  readonly results: readonly ModelEvaluation[];
}

/** Records decoded together unless the person says otherwise. */
export const defaultBatchSize = 64;

/** Evaluates the models one after the other. Wrong input is thrown before a process is started. */
export async function evaluateModels(options: EvaluateOptions): Promise<Evaluations> {
  const { dataset, paths, backend = 'auto', threads = 0 } = options;
  const records = typeof dataset === 'string' ? readInterleave(dataset) : dataset;
  if (records.length === 0) throw inputError('EMPTY_DATASET', 'Expected at least one record to evaluate on, got none');
  const models = options.models.map(({ name, folder, base }) => ({ name, ...resolveModelParts(folder, paths, base) }));
  const outcome = await runTrainerJob(
    {
      kind: 'evaluate',
      task: 'interleave',
      models,
      records,
      batchSize: options.batchSize ?? defaultBatchSize,
      maxCompletionLength: options.maxCompletionLength ?? null,
      backend,
      threads,
      kernelsFile: paths.kernels,
    },
    paths.trainer,
    options,
  );
  const results = outcome.value.models.map(({ name, items, seconds }) => {
    const scored = scoredItems(records, items);
    return { name, items: scored, summary: summarizeEvaluation(scored, options.seed), seconds };
  });
  return { backend: outcome.backend, threads: outcome.threads, results };
}

/** Replies have no exact answer to be measured against: they are sampled and compared instead. */
function readInterleave(file: string): InterleaveRecord[] {
  if (!holdsReplies(file)) return readDataset(file, interleaveTask);
  throw inputError(
    'OTHER_TASK',
    `${file}: expected records of interleaving, got replies`,
    'Measure replies with `braid compare`: it samples several of each prompt.',
  );
}

function scoredItems(records: readonly InterleaveRecord[], items: readonly EvaluationItem[]): ScoredItem[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return items.map(({ id, completion, metrics }) => {
    const { words = 0, target = '' } = byId.get(id) ?? {};
    const { alignment = Number.NaN, exact_match = 0, first_error = 0 } = metrics;
    return { id, target, completion, words, alignment, exact_match, first_error };
  });
}
