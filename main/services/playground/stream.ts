/** A model's completion as it is generated: a job in a process of its own, and what is known of it so far. */
import { freemem } from 'node:os';
import type { GenerateJob } from '../../trainer/jobs/generate.ts';
import type { SideJobResult } from '../../trainer/jobs/jobs.ts';
import type { PlayJob } from '../../trainer/jobs/play.ts';
import { deviceBudget, precisionFor, usedBytes } from '../../trainer/memory/budget.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import type { ModelParts } from '../../trainer/open-policy.ts';
import { machineDevice } from '../doctor/model.ts';
import { type JobOutcome, runTrainerJob, type TextJobOptions } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { openTurns } from './turns.ts';

/** Caches of a prompt and its completion, as a rule. */
const CACHES = 128 * 2 ** 20;

/** What a process with this model takes, before it decides that itself. */
function bytesInUse({ base }: ModelParts): number {
  const model = readModelConfig(base);
  const budget = deviceBudget(machineDevice(), freemem());
  const precision = precisionFor(model, 'none', budget);
  return usedBytes(model, { precision, trained: 'none' }, budget.program, CACHES, budget.device);
}

/** One queue for the whole host: all processes share its memory. */
const turns = openTurns(freemem);

export type StreamPlace = Pick<OpenWorkspace, 'paths' | 'jobs'>;

/**
 * Starts the job and yields what `follow` has shown last, until it has ended; returns its outcome. Ending the stream
 * cancels the job. `follow`: what the process reports, as something to show.
 */
export async function* streamJob<J extends GenerateJob | PlayJob, S>(
  app: StreamPlace,
  job: J,
  name: string,
  follow: (show: (state: S) => void) => Pick<TextJobOptions, 'onText' | 'onMessages'>,
  signal?: AbortSignal,
): AsyncGenerator<S, JobOutcome<SideJobResult<J>>> {
  // It may arrive faster than it is read: only the newest is kept.
  const waiting: { newest: { readonly state: S } | null } = { newest: null };
  let wake: () => void = () => undefined;
  const started = app.jobs.start('generate', `Generate with ${name}`, async (context) => {
    const turn = await turns.take(bytesInUse(job.model), context.signal);
    try {
      return await runTrainerJob(job, app.paths.trainer, {
        signal: context.signal,
        ...follow((state) => {
          turn?.filled();
          waiting.newest = { state };
          wake();
        }),
      });
    } finally {
      turn?.end();
    }
  });
  const ended = started.result.then(
    () => true as const,
    () => true as const,
  );
  const cancel = (): void => void app.jobs.cancel(started.id);
  signal?.addEventListener('abort', cancel);
  try {
    for (;;) {
      const more = new Promise<false>((resolve) => (wake = () => resolve(false)));
      const { newest } = waiting;
      waiting.newest = null;
      if (newest !== null) yield newest.state;
      if (await Promise.race([more, ended])) break;
    }
    return await started.result;
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}
