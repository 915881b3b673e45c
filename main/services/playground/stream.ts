/** A model's completion as it is generated: a job in a process of its own, and what is known of it so far. */

import { hostMemory } from '../../io/memory.ts';
import type { GenerateJob } from '../../trainer/jobs/generate-text.ts';
import type { SideJobResult } from '../../trainer/jobs/jobs.ts';
import type { PlayJob } from '../../trainer/jobs/play.ts';
import { isOnGpu, keptAs, precisionFor, usedBytes } from '../../trainer/memory/budget.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import { storedBytes } from '../../trainer/memory/stored-bytes.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';
import { budgetFor, deviceFor, knownMachineMemory } from '../doctor/machine-memory.ts';
import { type JobOutcome, runTrainerJob, type TextJobOptions } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { openTurns, type Turns } from './turns.ts';

/** Caches of a prompt and its completion, as a rule. */
const CACHES = 128 * 2 ** 20;

export type StreamPlace = Pick<OpenWorkspace, 'paths' | 'jobs'>;

/** What a process with this model takes before it decides that itself, and what is free of it. */
export interface MemoryNeed {
  readonly bytes: number;
  readonly onGpu: boolean;
  readonly freeBytes: () => number;
}

export function memoryNeed({ paths }: Pick<StreamPlace, 'paths'>, { base }: ModelParts): MemoryNeed {
  const machine = knownMachineMemory(paths);
  const device = deviceFor('auto', machine);
  const model = readModelConfig(base);
  const budget = budgetFor(device, machine);
  const precision = keptAs(precisionFor(model, 'none', budget), device);
  const bytes = usedBytes(
    model,
    { precision, trained: 'none', fileBytes: storedBytes(base) },
    budget.program,
    CACHES,
    device,
  );
  const onGpu = isOnGpu(device);
  const freeBytes = () => (onGpu ? (knownMachineMemory(paths).gpu?.freeBytes ?? 0) : hostMemory().freeBytes);
  return { bytes, onGpu, freeBytes };
}

/** Queues for the whole host, whose processes share its memory, and for the memory of a GPU. */
const onHost = openTurns(() => hostMemory().freeBytes);
const onGpus = new WeakMap<StreamPlace['paths']['trainer'], Turns>();

function turnFor(app: StreamPlace, parts: ModelParts): { readonly queue: Turns; readonly bytes: number } {
  const { bytes, onGpu, freeBytes } = memoryNeed(app, parts);
  if (!onGpu) return { queue: onHost, bytes };
  const queue = onGpus.get(app.paths.trainer) ?? openTurns(freeBytes);
  onGpus.set(app.paths.trainer, queue);
  return { queue, bytes };
}

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
    const { queue, bytes } = turnFor(app, job.model);
    const turn = await queue.take(bytes, context.signal);
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
