/** A server that runs as a job of a Ray cluster. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BraidError } from '../../errors.ts';
import { counted } from '../../text/format.ts';
import { portOfServer } from '../engines/server-launcher.ts';
import { ENDED_IDLE, type ServerKind, tailOf } from './kind.ts';
import { packFolder } from './pack-folder.ts';
import { clusterOf, jobOf, logsOf, type RayJob, stopJob, submitJob, uploadPackage } from './ray-jobs.ts';
import { IDLE_CODE, quoted, whileUsed } from './shell.ts';

/** A job that waits for longer usually waits for ever: for a machine that nobody adds, or for its packages. */
const LONG_PENDING_MS = 10 * 60_000;
/** How often a job is asked whether it has ended, after a request to stop. */
const STOP_MS = 500;
const STOP_TRIES = 40;

export const rayServer: ServerKind<'ray'> = {
  plan: ({ dashboard, allowPlain }, { name }) => ({
    kind: 'ray',
    dashboard,
    allowPlain,
    submissionId: `braid-${name}-${randomBytes(4).toString('hex')}`,
  }),

  start: async (launcher, { engine, handle, url }, { secrets }) => {
    const cluster = clusterOf(handle, secrets);
    const { workingDir, pip, env, cpus, gpus, maxHours, idleMinutes } = launcher;
    const line = whileUsed(launcher.entrypoint, 60 * idleMinutes, portOfServer(launcher, url));
    const package_ = workingDir === null ? null : await uploadPackage(cluster, packFolder(workingDir));
    await submitJob(cluster, {
      submission_id: handle.submissionId,
      entrypoint: withinTime(line, maxHours),
      ...(cpus > 0 && { entrypoint_num_cpus: cpus }),
      ...(gpus > 0 && { entrypoint_num_gpus: gpus }),
      runtime_env: {
        ...(package_ !== null && { working_dir: package_ }),
        ...(pip.length > 0 && { pip }),
        ...(Object.keys(env).length > 0 && { env_vars: env }),
      },
      metadata: { braid_engine: engine },
    });
    return handle;
  },

  look: async ({ handle, startedAt }, { secrets }) => {
    try {
      const job = await jobOf(clusterOf(handle, secrets), handle.submissionId);
      if (job !== null) return lookedAt(job, Date.now() - startedAt);
      return {
        state: 'gone',
        detail: `The cluster doesn't know job ${handle.submissionId} any more: its head was restarted, or it never arrived`,
      };
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      return { state: 'unknown', detail: `${error.message}, so job ${handle.submissionId} may still run` };
    }
  },

  stop: async ({ handle }, { secrets }) => {
    const cluster = clusterOf(handle, secrets);
    await stopJob(cluster, handle.submissionId);
    for (let tries = 0; tries < STOP_TRIES; tries++) {
      const job = await jobOf(cluster, handle.submissionId);
      if (job === null || (job.status !== 'PENDING' && job.status !== 'RUNNING')) return;
      await sleep(STOP_MS);
    }
    throw new BraidError('SERVER_STAYS', `Job ${handle.submissionId} still runs after a request to stop`, {
      remedy: 'Stop it again in a moment, or on the cluster by `ray job stop`.',
    });
  },

  log: async ({ handle }, { secrets }) => tailOf((await logsOf(clusterOf(handle, secrets), handle.submissionId)) ?? ''),
};

/** The cluster ends it, whether this machine is on or not. */
function withinTime(entrypoint: string, hours: number): string {
  if (hours === 0) return entrypoint;
  return `exec timeout --kill-after=30 ${Math.ceil(hours * 3600)} sh -c ${quoted(entrypoint)}`;
}

function lookedAt({ status, message, driver_exit_code }: RayJob, ageMs: number) {
  switch (status) {
    case 'PENDING':
      return {
        state: 'starting',
        detail:
          ageMs < LONG_PENDING_MS
            ? 'The job waits for its environment or for a machine'
            : `The job has waited for ${counted(Math.round(ageMs / 60_000), 'minute')}: look at its log and the cluster's resources, or stop it`,
      } as const;
    case 'RUNNING':
      return { state: 'starting', detail: 'The job runs' } as const;
    case 'SUCCEEDED':
      return { state: 'stopped', detail: 'The job ended by itself' } as const;
    case 'STOPPED':
      return { state: 'stopped', detail: 'The job was stopped' } as const;
    case 'FAILED':
      // What timeout ends with.
      if (driver_exit_code === 124) return { state: 'stopped', detail: 'It had been up for its longest time' } as const;
      if (driver_exit_code === IDLE_CODE) return { state: 'stopped', detail: ENDED_IDLE } as const;
      return { state: 'failed', detail: firstLine(message ?? 'The job failed') } as const;
  }
}

/** Ray appends the log to its message. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '')
    .replace(/,? last available logs.*$/, '')
    .replace(/\.$/, '')
    .slice(0, 400);
}
