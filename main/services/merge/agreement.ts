/** Whether an exported model answers as its checkpoint does: the same prompts, greedily. */
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import type { BackendSetting } from '../../trainer/backend-names.ts';
import { generateDataset, readDataset } from '../datasets/index.ts';
import { evaluateModels } from '../evaluation/evaluate.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { readCorpus } from '../texts/index.ts';
import type { JobOptions } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';

export interface Agreement {
  readonly prompts: number;
  /** Prompts with the same completion, letter by letter. */
  readonly equal: number;
}

/** One prompt's completions: the checkpoint's and the export's. */
export interface Answers {
  readonly id: string;
  readonly prompt: string;
  readonly checkpoint: string;
  readonly exported: string;
}

/** Prompts of a proof without a dataset: enough to see a wrong layer, quick on a large model. */
const PROMPTS = 16;
const WORDS = 10;
const SEED = 42;

/** The records of a file, or pairs of the bundled texts. */
export function proofRecords(dataset: string | undefined, paths: HostPaths): readonly InterleaveRecord[] {
  if (dataset !== undefined) return readDataset(dataset, interleaveTask);
  const texts = readCorpus(bundledTextFiles(paths.datasets));
  const made = generateDataset({ texts, words: WORDS, train: PROMPTS, test: PROMPTS, seed: SEED });
  if (made.kind !== 'dataset') throw new Error('Expected the bundled texts to be enough for a few pairs');
  return made.test;
}

/** What two models answer, one after the other in one process. */
export async function answersOf(
  records: readonly InterleaveRecord[],
  [checkpoint, exported]: readonly [ModelRef, ModelRef],
  options: JobOptions & { readonly paths: HostPaths; readonly backend?: BackendSetting; readonly threads?: number },
): Promise<readonly Answers[]> {
  const models = [checkpoint, exported].map(({ parts, base }, i) => ({
    name: i === 0 ? 'checkpoint' : 'export',
    folder: parts,
    ...(base === undefined ? {} : { base }),
  }));
  const { signal, onProgress, onWarning, paths, backend = 'auto', threads = 0 } = options;
  const { results } = await evaluateModels({
    ...{ models, dataset: records, paths, backend, threads },
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
  });
  const [first, second] = results.map(({ items }) => new Map(items.map((item) => [item.id, item.completion])));
  return records.map(({ id, prompt }) => ({
    ...{ id, prompt },
    checkpoint: first?.get(id) ?? '',
    exported: second?.get(id) ?? '',
  }));
}

interface ModelRef {
  readonly parts: string;
  readonly base?: string | undefined;
}

/** How many answers are equal. */
export function agreementOf(answers: readonly Answers[]): Agreement {
  return {
    prompts: answers.length,
    equal: answers.filter(({ checkpoint, exported }) => checkpoint === exported).length,
  };
}
