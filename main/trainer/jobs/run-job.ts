/** A side job from start to end: opens the backend, does the work, reports the result or failure. */
import { onPulse } from '../../pulse.ts';
import { type OpenBackend, openBackend } from '../backend/open-backend.ts';
import { describeFailure } from '../memory/failure.ts';
import type { JobEvent } from '../protocol/trainer-events.ts';
import { runBenchJob } from './bench.ts';
import { runConvertGgufJob } from './convert-gguf.ts';
import { runEngineTestJob } from './engine-test.ts';
import { runEvaluateJob } from './evaluate-models.ts';
import { runGenerateJob } from './generate-text.ts';
import { runGgufAnswersJob } from './gguf-answers.ts';
import { runGpuReportJob } from './gpu-report/job.ts';
import type { JobIo } from './job-io.ts';
import type { SideJob, SideJobResults } from './jobs.ts';
import { openInbox } from './keep-model/inbox.ts';
import { type Asking, runKeepModelJob } from './keep-model/job.ts';
import { runMergeJob } from './merge.ts';
import { runPlayJob } from './play.ts';
import { runPreflightJob } from './preflight.ts';
import { runSampleJob } from './sample.ts';
import { runScoreJob } from './score.ts';
import { runSelfCheckJob } from './self-check.ts';

/** A backend, or the engine that stands in for it. */
type UsedBackend = Omit<OpenBackend, 'name'> & { readonly name: string };

/**
 * Runs a side job, reporting everything through `emit`; failures are also reported, never thrown. `inbox`: what the host
 * sends meanwhile.
 */
export async function runJob(job: SideJob, emit: (event: JobEvent) => void, inbox = openInbox()): Promise<void> {
  let backend: UsedBackend | null = null;
  onPulse(() => emit({ kind: 'alive' }));
  try {
    backend = await backendFor(job);
    const { name, threads, why } = backend;
    const warning = examines(job) ? undefined : backend.warning;
    emit({ kind: 'ready', backend: name, threads, why, ...(warning !== undefined && { warning }) });
    emit({ kind: 'result', value: await work(job, openJobIo(backend, emit), { inbox, emit }) });
  } catch (error) {
    emit({ kind: 'failed', ...describeFailure(error) });
  } finally {
    onPulse(null);
    await backend?.close();
  }
}

/** Whether it is there to find out what a backend is worth. */
function examines({ kind }: SideJob): boolean {
  return kind === 'self-check' || kind === 'gpu-report';
}

/** Work on an engine elsewhere needs no tensors here. */
async function backendFor(job: SideJob): Promise<UsedBackend> {
  const remote = 'engine' in job ? (job.engine ?? null) : null;
  // Jobs on a model name its folder, alone or with its adapter's.
  if (remote === null) return openBackend({ ...('model' in job && { modelFolder: job.model.base }), ...job });
  return { name: remote.name, threads: 0, why: 'a remote engine', close: async () => undefined };
}

function openJobIo(backend: UsedBackend, emit: (event: JobEvent) => void): JobIo {
  return {
    backend,
    progress: (done, total, unit) => {
      emit({ kind: 'progress', done, total, unit });
      return new Promise((resolve) => setImmediate(resolve));
    },
    alive: () => emit({ kind: 'alive' }),
    text: (text, tokens) => emit({ kind: 'text', text, tokens }),
    messages: (messages, tokens) => emit({ kind: 'messages', messages, tokens }),
  };
}

function work(job: SideJob, io: JobIo, asking: Asking): Promise<SideJobResults[SideJob['kind']]> {
  switch (job.kind) {
    case 'evaluate':
      return runEvaluateJob(job, io);
    case 'sample':
      return runSampleJob(job, io);
    case 'score':
      return runScoreJob(job, io);
    case 'engine-test':
      return runEngineTestJob(job, io);
    case 'bench':
      return runBenchJob(job, io);
    case 'preflight':
      return runPreflightJob(job, io);
    case 'generate':
      return runGenerateJob(job, io);
    case 'play':
      return runPlayJob(job, io);
    case 'self-check':
      return runSelfCheckJob();
    case 'gpu-report':
      return runGpuReportJob(job, io);
    case 'merge':
      return runMergeJob(job, io);
    case 'convert-gguf':
      return runConvertGgufJob(job, io);
    case 'gguf-answers':
      return runGgufAnswersJob(job, io);
    case 'keep-model':
      return runKeepModelJob(job, asking);
  }
}
