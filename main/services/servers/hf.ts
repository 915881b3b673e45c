/** A server that runs as a job of Hugging Face, which bills it by the minute. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cancelJob, getJob, listJobs, runJob, streamJobLogs } from '@huggingface/hub';
import { BraidError, inputError } from '../../errors.ts';
import { portOfServer } from '../engines/server-launcher.ts';
import { hubOptions } from '../models/hub-access.ts';
import { hubStatus } from '../models/hub-errors.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { LOG_CHARACTERS, type Looked, type ServerKind, tailOf } from './kind.ts';
import { whileUsed } from './shell.ts';

/** Its name among a job's labels. */
const LABEL = 'braid-engine';
/** A log is a stream that stays open while the job runs: what came is shown after this long without more. */
const SILENCE_MS = 1500;

export const hfServer: ServerKind<'hf'> = {
  plan: ({ namespace }, { name }) => ({
    kind: 'hf',
    namespace,
    jobId: null,
    label: `${name}-${randomBytes(4).toString('hex')}`,
  }),

  start: async (launcher, { handle, url }, { secrets }) => {
    const { image, flavor, env, maxHours, idleMinutes } = launcher;
    // A job that ended well: the Hub names no codes.
    const line = whileUsed(launcher.command, 60 * idleMinutes, portOfServer(launcher, url), 0);
    const { id } = await asked(() =>
      runJob({
        ...hub(secrets),
        namespace: handle.namespace,
        dockerImage: image,
        command: ['sh', '-c', line],
        // The Hub checks the name of the machine.
        flavor: flavor as Parameters<typeof runJob>[0]['flavor'],
        environment: { ...env },
        labels: { [LABEL]: handle.label },
        ...(maxHours > 0 && { timeoutSeconds: Math.ceil(maxHours * 3600) }),
      }),
    );
    return { ...handle, jobId: id };
  },

  look: async ({ handle }, { secrets }) => {
    try {
      const id = await jobId(handle, secrets);
      if (id === null) return { state: 'gone', detail: 'Hugging Face has no such job: it never arrived' };
      const { status } = await asked(() => getJob({ ...hub(secrets), namespace: handle.namespace, jobId: id }));
      return lookedAt(status.stage, status.message ?? null);
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      if (error.code === 'HF_JOB_UNKNOWN')
        return { state: 'gone', detail: `Hugging Face doesn't know job ${handle.jobId} any more` };
      return { state: 'unknown', detail: `${error.message}, so the job may still run and cost` };
    }
  },

  stop: async ({ handle }, { secrets }) => {
    const id = await jobId(handle, secrets);
    if (id === null) return;
    try {
      await asked(() => cancelJob({ ...hub(secrets), namespace: handle.namespace, jobId: id }));
    } catch (error) {
      if (!(error instanceof BraidError) || error.code !== 'HF_JOB_UNKNOWN') throw error;
    }
  },

  log: async ({ handle }, { secrets }) => {
    const id = await jobId(handle, secrets);
    if (id === null) return '';
    const lines: string[] = [];
    let characters = 0;
    const enough = new AbortController();
    const abortable: typeof fetch = (url, init) => fetch(url, { ...init, signal: enough.signal });
    const place = { ...hub(secrets), namespace: handle.namespace, jobId: id, fetch: abortable };
    const stream = streamJobLogs(place);
    try {
      for (;;) {
        const coming = asked(() => stream.next());
        coming.catch(() => undefined);
        const next = await Promise.race([coming, sleep(SILENCE_MS, null)]);
        if (next === null || next.done === true) break;
        lines.push(next.value.message.trimEnd());
        characters += next.value.message.length;
        while (characters > 2 * LOG_CHARACTERS) characters -= lines.shift()?.length ?? characters;
      }
    } finally {
      enough.abort();
    }
    return tailOf(lines.join('\n'));
  },
};

function hub(secrets: Pick<Secrets, 'get'>): { hubUrl?: string; accessToken: string } {
  const { hubUrl, accessToken } = hubOptions(secrets);
  if (accessToken !== undefined) return { ...(hubUrl !== undefined && { hubUrl }), accessToken };
  throw inputError(
    'HF_NO_TOKEN',
    'Jobs of Hugging Face need a token, and none is known',
    'Give it in Settings, by HF_TOKEN or by `hf auth login`; it must be allowed to run jobs.',
  );
}

/** The job's id; where the answer to its start was lost, by its label. */
async function jobId(
  { namespace, jobId: known, label }: { namespace: string; jobId: string | null; label: string },
  secrets: Pick<Secrets, 'get'>,
): Promise<string | null> {
  if (known !== null) return known;
  const jobs = await asked(() => listJobs({ ...hub(secrets), namespace }));
  return jobs.find(({ labels }) => labels?.[LABEL] === label)?.id ?? null;
}

/** Stages as the Hub names them; the library's type lists only some. */
function lookedAt(stage: string, message: string | null): Looked {
  const because = message === null || message.trim() === '' ? '' : `: ${message.trim().slice(0, 400)}`;
  switch (stage) {
    case 'RUNNING':
      return { state: 'starting', detail: 'The job runs' };
    case 'ERROR':
      return { state: 'failed', detail: `The job failed${because}` };
    case 'COMPLETED':
      return { state: 'stopped', detail: 'The job ended by itself, or because nothing had used it' };
    case 'STOPPED':
    case 'CANCELED':
    case 'DELETED':
    case 'DELETING':
      return { state: 'stopped', detail: `The job was stopped${because}` };
    default:
      return { state: 'starting', detail: `The job is ${stage.toLowerCase()}${because}` };
  }
}

/** What the Hub's refusals mean. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BraidError) throw error;
    const status = hubStatus(error);
    if (status === 404) throw new BraidError('HF_JOB_UNKNOWN', 'Hugging Face has no such job or namespace');
    if (status === 401 || status === 402 || status === 403)
      throw inputError(
        'HF_REFUSED',
        `Hugging Face refused (${status})${error instanceof Error ? `: ${error.message}` : ''}`,
        'The token must be allowed to run jobs, and the namespace must have credit.',
      );
    throw new BraidError(
      'HF_UNREACHABLE',
      `Hugging Face doesn't answer as expected${status === null ? '' : ` (${status})`}`,
      {
        cause: error,
        remedy: 'Look at the list of jobs on its site: what was started there may be running.',
      },
    );
  }
}
