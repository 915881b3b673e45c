/** A side job from start to end: opens the backend, does the work, reports the result or failure. */
import { onPulse } from '../../pulse.ts';
import { type OpenBackend, openBackend } from '../backend.ts';
import type { JobEvent } from '../events.ts';
import { describeFailure } from '../host/failure.ts';
import { runBenchJob } from './bench.ts';
import { runEvaluateJob } from './evaluate.ts';
import { runGenerateJob } from './generate.ts';
import { runGgufAnswersJob } from './gguf-answers.ts';
import type { JobIo } from './job-io.ts';
import type { SideJob, SideJobResults } from './jobs.ts';
import { runMergeJob } from './merge.ts';
import { runPreflightJob } from './preflight.ts';
import { runSampleJob } from './sample.ts';
import { runScoreJob } from './score.ts';
import { runSelfCheckJob } from './self-check.ts';

/** Runs a side job, reporting everything through `emit`; failures are also reported, never thrown. */
export async function runJob(job: SideJob, emit: (event: JobEvent) => void): Promise<void> {
  let backend: OpenBackend | null = null;
  onPulse(() => emit({ kind: 'alive' }));
  try {
    backend = await openBackend(job);
    emit({ kind: 'ready', backend: backend.name, threads: backend.threads, why: backend.why });
    emit({ kind: 'result', value: await work(job, openJobIo(backend, emit)) });
  } catch (error) {
    emit({ kind: 'failed', ...describeFailure(error) });
  } finally {
    onPulse(null);
    await backend?.close();
  }
}

function openJobIo(backend: OpenBackend, emit: (event: JobEvent) => void): JobIo {
  return {
    backend,
    progress: (done, total, unit) => {
      emit({ kind: 'progress', done, total, unit });
      return new Promise((resolve) => setImmediate(resolve));
    },
    alive: () => emit({ kind: 'alive' }),
    text: (text, tokens) => emit({ kind: 'text', text, tokens }),
  };
}

function work(job: SideJob, io: JobIo): Promise<SideJobResults[SideJob['kind']]> {
  switch (job.kind) {
    case 'evaluate':
      return runEvaluateJob(job, io);
    case 'sample':
      return runSampleJob(job, io);
    case 'score':
      return runScoreJob(job, io);
    case 'bench':
      return runBenchJob(job, io);
    case 'preflight':
      return runPreflightJob(job, io);
    case 'generate':
      return runGenerateJob(job, io);
    case 'self-check':
      return runSelfCheckJob();
    case 'merge':
      return runMergeJob(job, io);
    case 'gguf-answers':
      return runGgufAnswersJob(job, io);
  }
}
