/** Whether an exported model answers as its checkpoint does: the same prompts, greedily. */
import type { TaskRecord } from '../../tasks/task.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import { defaultBatchSize } from '../evaluation/evaluate.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { trainedLimit } from '../models/trained-limit.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { ProofPrompts } from './proof-prompts.ts';

export interface Agreement {
  readonly prompts: number;
  /** Prompts with the same completion, letter by letter. */
  readonly equal: number;
}

/** One prompt's completions: the checkpoint's and the export's. */
export interface Answers {
  readonly record: TaskRecord;
  readonly checkpoint: string;
  readonly exported: string;
  /** The checkpoint's first turn, where an environment answers back; otherwise its completion. */
  readonly firstTurn: string;
}

/** What two models answer, one after the other in one process. Nothing is scored: no judge is asked or paid. */
export async function answersOf(
  { task, records }: Pick<ProofPrompts, 'task' | 'records'>,
  [checkpoint, exported]: readonly [ModelRef, ModelRef],
  options: JobOptions & { readonly paths: HostPaths; readonly backend?: BackendSetting; readonly threads?: number },
): Promise<readonly Answers[]> {
  const { paths, backend = 'auto', threads = 0 } = options;
  const first = resolveModelParts(checkpoint.parts, paths, checkpoint.base);
  const second = resolveModelParts(exported.parts, paths, exported.base);
  const { value } = await runTrainerJob(
    {
      kind: 'sample',
      task,
      records,
      samples: 1,
      temperature: 0,
      seed: 0,
      models: [
        { name: 'checkpoint', ...first },
        { name: 'export', ...second },
      ],
      batchSize: defaultBatchSize,
      maxCompletionLength: null,
      trainedLimit: trainedLimit([first]),
      backend,
      threads,
      kernelsFile: paths.kernels,
      rewardWorker: paths.rewardWorker,
    },
    paths.trainer,
    options,
  );
  const [own, other] = value.models;
  return records.map((record, i) => {
    const { completion = '', messages } = own?.completions[i]?.[0] ?? {};
    return {
      record,
      checkpoint: completion,
      exported: other?.completions[i]?.[0]?.completion ?? '',
      firstTurn: messages?.[0]?.content ?? completion,
    };
  });
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
