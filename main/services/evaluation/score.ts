/** Log-probabilities of given completions under one model. */

import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { ScoredCompletion } from '../../trainer/jobs/score.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { readScoreFile } from './score-file.ts';

export interface ScoreOptions extends JobOptions {
  /** A model folder, the name of a bundled model, or a checkpoint. */
  readonly model: string;
  readonly base?: string;
  /** JSONL of {id, prompt, completion}, {id, prompt_ids, completion_ids} or {id, messages}. */
  readonly dataset: string;
  readonly paths: HostPaths;
  readonly backend: BackendSetting;
  readonly threads: number;
}

export interface Scores {
  readonly backend: string;
  readonly items: readonly ScoredCompletion[];
}

/** Scores every completion of a file. Wrong input is thrown before a process is started. */
export async function scoreFile(options: ScoreOptions): Promise<Scores> {
  const { dataset: file, paths, backend, threads } = options;
  const lines = readScoreFile(file);
  const model = resolveModelParts(options.model, paths, options.base);
  const job = { kind: 'score', model, file, lines, backend, threads, kernelsFile: paths.kernels } as const;
  const outcome = await runTrainerJob(job, paths.trainer, options);
  return { backend: outcome.backend, items: outcome.value.items };
}
