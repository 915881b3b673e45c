/** The prompts that an export is proved on: held-out ones of the checkpoint's run, asked as its task asks them. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { nativeTask, openTask, type TaskSource } from '../../tasks/index.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import { counted } from '../../text/format.ts';
import { readConfigFile } from '../config/presets.ts';
import { isReplyDataset } from '../datasets/detect-task.ts';
import { datasetFiles, generateDataset, readDataset } from '../datasets/index.ts';
import { resolveModel } from '../models/resolve.ts';
import { checkpointTask } from '../tasks/run-task.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { readCorpus } from '../texts/index.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Where prompts come from; field names as in `--json`. */
export interface PromptSource {
  /** The task's name. */
  readonly task: string;
  /** A JSONL file; null: pairs of the bundled texts. */
  readonly dataset: string | null;
  /** How many records are there; the prompts are some of them. */
  readonly records: number;
  /** Why they aren't the held-out ones of the checkpoint's run; null: they are, or they were given. */
  readonly note: string | null;
}

export interface ProofPrompts {
  readonly task: TaskSource;
  readonly records: readonly TaskRecord[];
  readonly source: PromptSource;
}

/** Enough to see a wrong layer, quick on a large model. */
const PROMPTS = 16;
const WORDS = 10;
const SEED = 42;

/** All records of `dataset`, otherwise some of the checkpoint's run: held-out ones, or of its training; or made pairs. */
export function proofPrompts(
  model: string,
  dataset: string | undefined,
  paths: Pick<HostPaths, 'resources' | 'datasets'>,
): ProofPrompts {
  const folder = resolveModel(model, paths);
  if (dataset !== undefined) {
    const task = checkpointTask(folder) ?? (isReplyDataset(dataset) ? 'reply' : 'interleave');
    return fromFile(dataset, task, Number.POSITIVE_INFINITY, null);
  }
  const file = join(folder, '..', 'run.yaml');
  if (!existsSync(file)) return bundledPairs(paths, "the model isn't a checkpoint in a run's folder");
  try {
    return promptsOfRun(folder, file);
  } catch (error) {
    // An export must not fail because the records of its run are gone.
    return bundledPairs(paths, `the records of its run can't be used: ${(error as Error).message}`);
  }
}

function promptsOfRun(folder: string, file: string): ProofPrompts {
  const fields = readConfigFile(file);
  const named = text(fields.task) ?? 'interleave';
  const task = nativeTask(named) === undefined ? checkpointTask(folder) : named;
  if (task === null) throw new Error(`the run has no copy of its task "${named}"`);
  const train = text(fields.dataset);
  if (train === null) throw new Error(`${file} names no dataset`);
  const heldOut = text(fields.eval_dataset) ?? datasetFiles(train).test;
  try {
    return fromFile(heldOut, task, PROMPTS, null);
  } catch (error) {
    const note = `of its training, as held-out ones can't be used: ${(error as Error).message}`;
    return fromFile(train, task, PROMPTS, note);
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function fromFile(dataset: string, task: TaskSource, most: number, note: string | null): ProofPrompts {
  const file = resolve(dataset);
  // It reads records and scores nothing.
  const opened = openTask(task, '');
  const all = readDataset(file, opened);
  opened.close();
  if (all.length === 0) throw inputError('EMPTY_DATASET', `${file}: expected at least one record, got none`);
  return { task, records: spread(all, most), source: { task: opened.name, dataset: file, records: all.length, note } };
}

/** At most so many, at equal distances: the records of a file may be sorted. */
function spread<T>(all: readonly T[], most: number): T[] {
  const every = Math.max(1, all.length / most);
  return all.filter((_, i) => Math.floor(i / every) !== Math.floor((i - 1) / every));
}

function bundledPairs(paths: Pick<HostPaths, 'datasets'>, note: string): ProofPrompts {
  const texts = readCorpus(bundledTextFiles(paths.datasets));
  const made = generateDataset({ texts, words: WORDS, train: PROMPTS, test: PROMPTS, seed: SEED });
  if (made.kind !== 'dataset') throw new Error('Expected the bundled texts to be enough for a few pairs');
  const source = { task: 'interleave', dataset: null, records: made.test.length, note };
  return { task: 'interleave', records: made.test, source };
}

/** The same for a person. */
export function sourceWords({ dataset, records, note }: PromptSource, prompts: number): string {
  const words =
    dataset === null
      ? `${counted(prompts, 'pair')} of the bundled texts`
      : `${prompts} of ${counted(records, 'record')} of ${dataset}`;
  return note === null ? words : `${words} (${note})`;
}
