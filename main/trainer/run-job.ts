/** A side job from start to end: backend opened, work done, result or failure told. */
import { type OpenBackend, openBackend } from './backend.ts';
import { runBenchJob } from './bench-job.ts';
import { runEvaluateJob } from './evaluate-job.ts';
import type { JobEvent } from './events.ts';
import { describeFailure } from './failure.ts';
import { runGenerateJob } from './generate-job.ts';
import type { JobIo } from './job-io.ts';
import type { SideJob, SideJobResults } from './jobs.ts';
import { runPreflightJob } from './preflight-job.ts';
import { runSampleJob } from './sample-job.ts';
import { runScoreJob } from './score-job.ts';
import { runSelfCheckJob } from './self-check-job.ts';

/** Does a side job, telling all through `emit`; a failure is told too, never thrown. */
export async function runJob(job: SideJob, emit: (event: JobEvent) => void): Promise<void> {
  let backend: OpenBackend | null = null;
  try {
    backend = await openBackend(job);
    emit({ kind: 'ready', backend: backend.name, threads: backend.threads, why: backend.why });
    emit({ kind: 'result', value: await work(job, openJobIo(backend, emit)) });
  } catch (error) {
    emit({ kind: 'failed', ...describeFailure(error) });
  } finally {
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
  }
}
