/**
 * The Jobs REST API of a Ray cluster's dashboard (docs.ray.io, "Ray Jobs REST API"). Whoever reaches a dashboard can run
 * commands on the cluster: only https, loopback (an SSH tunnel), or plain http allowed on purpose.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BraidError, inputError } from '../../errors.ts';
import { type HttpAnswer, httpRequest } from '../../io/http-request.ts';
import { engineAddress } from '../../trainer/tinker/address.ts';
import { clusterToken } from '../engines/keys.ts';
import type { Secrets } from '../workspace/secrets.ts';

export interface Cluster {
  readonly dashboard: string;
  readonly allowPlain: boolean;
  /** Of a cluster with RAY_AUTH_MODE=token; null: none is sent. */
  readonly token: string | null;
}

const STATES = ['PENDING', 'RUNNING', 'STOPPED', 'SUCCEEDED', 'FAILED'] as const;

const jobSchema = z.object({
  status: z.enum(STATES),
  message: z.string().nullish(),
  error_type: z.string().nullish(),
  driver_exit_code: z.number().nullish(),
});
export type RayJob = z.infer<typeof jobSchema>;

export interface RaySubmission {
  readonly submission_id: string;
  readonly entrypoint: string;
  readonly entrypoint_num_cpus?: number;
  readonly entrypoint_num_gpus?: number;
  readonly runtime_env: {
    readonly working_dir?: string;
    readonly pip?: readonly string[];
    readonly env_vars?: Readonly<Record<string, string>>;
  };
  readonly metadata: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 20_000;
const UPLOAD_MS = 300_000;

/** The cluster with its token. */
export function clusterOf(
  { dashboard, allowPlain }: Pick<Cluster, 'dashboard' | 'allowPlain'>,
  secrets: Pick<Secrets, 'get'>,
): Cluster {
  const url = engineAddress(dashboard, allowPlain);
  return { dashboard: url, allowPlain, token: clusterToken(secrets, { dashboard: url }) };
}

/** Starts a job under an id of our own: asking twice starts it once. */
export async function submitJob(cluster: Cluster, submission: RaySubmission): Promise<void> {
  read(cluster, await ask(cluster, 'POST', 'api/jobs/', JSON.stringify(submission)));
}

/** A job; null: the cluster doesn't know it. */
export async function jobOf(cluster: Cluster, id: string): Promise<RayJob | null> {
  const response = await ask(cluster, 'GET', `api/jobs/${encodeURIComponent(id)}`);
  if (response.status === 404) return null;
  const parsed = jobSchema.safeParse(json(cluster, response));
  if (parsed.success) return parsed.data;
  throw otherProtocol(cluster);
}

/** Everything that a job has printed; null: the cluster doesn't know it. */
export async function logsOf(cluster: Cluster, id: string): Promise<string | null> {
  const response = await ask(cluster, 'GET', `api/jobs/${encodeURIComponent(id)}/logs`);
  if (response.status === 404) return null;
  const parsed = z.object({ logs: z.string() }).safeParse(json(cluster, response));
  if (parsed.success) return parsed.data.logs;
  throw otherProtocol(cluster);
}

/** Asks a job to end; one that has ended, or that nobody knows, stays as it is. */
export async function stopJob(cluster: Cluster, id: string): Promise<void> {
  const response = await ask(cluster, 'POST', `api/jobs/${encodeURIComponent(id)}/stop`);
  if (response.status !== 404) read(cluster, response);
}

/** Brings an archive to the cluster, once for each content; its URI for `working_dir`. */
export async function uploadPackage(cluster: Cluster, zip: Buffer): Promise<string> {
  const name = `_ray_pkg_${createHash('sha256').update(zip).digest('hex').slice(0, 32)}.zip`;
  const route = `api/packages/gcs/${name}`;
  const known = await ask(cluster, 'GET', route);
  if (known.status === 404) read(cluster, await ask(cluster, 'PUT', route, zip, 'application/octet-stream', UPLOAD_MS));
  else read(cluster, known);
  return `gcs://${name}`;
}

async function ask(
  { dashboard, token }: Cluster,
  method: string,
  route: string,
  body: string | Uint8Array | null = null,
  type = 'application/json',
  timeoutMs = TIMEOUT_MS,
): Promise<HttpAnswer> {
  const headers = {
    ...(body !== null && { 'content-type': type }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  try {
    return await httpRequest(`${dashboard}/${route}`, { method, headers, body, timeoutMs });
  } catch (cause) {
    throw new BraidError('RAY_UNREACHABLE', `${dashboard} doesn't answer`, {
      cause,
      remedy: 'Is the cluster up, and the SSH tunnel to its dashboard open? Jobs there keep running without it.',
    });
  }
}

/** The text of a good answer; otherwise what it means. */
function read({ dashboard }: Cluster, { status, text }: HttpAnswer): string {
  if (status >= 200 && status < 300) return text;
  if (status === 401 || status === 403)
    throw inputError(
      'RAY_TOKEN_REFUSED',
      `${dashboard} refused the token (${status})`,
      'Give the token of the cluster in Settings, Engines.',
    );
  // Ray answers with a traceback, whose last line says what happened.
  const said = text.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
  throw new BraidError('RAY_REFUSED', `${dashboard} answered with ${status}: ${said}`, {
    remedy: "Check the job's entry point, packages and folder.",
  });
}

/** An answer as JSON. */
function json(cluster: Cluster, answer: HttpAnswer): unknown {
  const text = read(cluster, answer);
  try {
    return JSON.parse(text);
  } catch {
    throw otherProtocol(cluster);
  }
}

function otherProtocol({ dashboard }: Cluster): BraidError {
  return new BraidError('RAY_PROTOCOL', `${dashboard} doesn't answer as a Ray dashboard does`, {
    remedy: 'Give the address of the dashboard, such as http://127.0.0.1:8265.',
  });
}
