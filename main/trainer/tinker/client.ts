/**
 * A session with a server of the Tinker protocol. Work is asked for by a request, whose answer is a future: a number
 * that is asked for until it is ready. A request is never posted twice; its future may be asked for at will. Heartbeats
 * keep the session.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { VERSION } from '../../version.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import { failedThere, forgotten, keyRefused, otherProtocol } from './errors.ts';
import { type Answer, type Http, openHttp, PATIENCE, type Patience, type Traffic } from './http.ts';
import { capabilitiesSchema, futureSchema, sessionSchema } from './wire.ts';

/** Seconds of one piece of work. */
export interface CallTimes {
  /** Until the request was accepted. */
  readonly network: number;
  /** Of the wait, as far as the server says that it waits itself. */
  readonly queue: number;
}

export interface Called<T> {
  readonly value: T;
  readonly times: CallTimes;
}

export interface TinkerClient {
  readonly http: Http;
  readonly traffic: Traffic;
  /** Names of the models that the server trains. */
  models(): Promise<readonly string[]>;
  /** Opens the session, and keeps it by heartbeats. */
  begin(): Promise<string>;
  /** Posts a request and waits for its answer. */
  call<T>(route: string, body: object, schema: z.ZodType<T>): Promise<Called<T>>;
  /** The same where the request's own answer counts too. */
  callFor<A extends { readonly request_id: string }, T>(
    route: string,
    body: object,
    accepted: z.ZodType<A>,
    schema: z.ZodType<T>,
  ): Promise<Called<T> & { readonly accepted: A }>;
  close(): void;
}

/** Unexpected failures while a future is asked for: a few may be the server's own retries. */
const MAX_FAULTS = 3;

/** Opens a client; nothing is sent yet. */
export function openClient(engine: RemoteEngine, patience: Patience = PATIENCE): TinkerClient {
  const http = openHttp(engine, patience);
  let heart: ReturnType<typeof setInterval> | null = null;
  let lost: Error | null = null;

  const alive = (): void => {
    if (lost !== null) throw lost;
  };

  async function begin(): Promise<string> {
    const answer = await http.ask('create_session', {
      type: 'create_session',
      tags: ['braid'],
      sdk_version: VERSION,
    });
    const { session_id } = read('create_session', answer, sessionSchema, http.url);
    heart = setInterval(() => {
      http.ask('session_heartbeat', { type: 'session_heartbeat', session_id }).then(
        ({ status }) => {
          if (status === 404) lost = forgotten('session_heartbeat');
        },
        // A heartbeat that fails is no loss: the next may arrive, and the work itself reports what is wrong.
        () => undefined,
      );
    }, patience.heartbeatMs);
    heart.unref();
    return session_id;
  }

  async function callFor<A extends { readonly request_id: string }, T>(
    route: string,
    body: object,
    acceptedAs: z.ZodType<A>,
    schema: z.ZodType<T>,
  ) {
    alive();
    const began = performance.now();
    const accepted = read(route, await http.post(route, body), acceptedAs, http.url);
    const network = (performance.now() - began) / 1000;
    const { value, queue } = await future(route, accepted.request_id, schema);
    return { accepted, value, times: { network, queue } };
  }

  async function future<T>(route: string, request_id: string, schema: z.ZodType<T>) {
    let queue = 0;
    for (let faults = 0; ; ) {
      alive();
      const began = performance.now();
      const answer = await http.ask('retrieve_future', { request_id });
      // Not yet; some servers say so with a status of their own in a good answer.
      if (answer.status === 408 || isPending(answer)) {
        if (isQueued(answer.body)) queue += (performance.now() - began) / 1000;
        if (performance.now() - began < patience.pauseMs) await sleep(patience.pauseMs / 5);
        continue;
      }
      if (answer.status >= 500 && ++faults < MAX_FAULTS) {
        await sleep(patience.pauseMs);
        continue;
      }
      if (answer.status === 404) throw forgotten(route);
      return { value: read(route, answer, schema, http.url), queue };
    }
  }

  return {
    http,
    traffic: http.traffic,
    begin,
    callFor,
    models: async () => {
      const answer = await http.get('get_server_capabilities');
      const { supported_models } = read('get_server_capabilities', answer, capabilitiesSchema, http.url);
      return supported_models.flatMap(({ model_name }) => model_name ?? []);
    },
    call: (route, body, schema) => callFor(route, body, futureSchema, schema),
    close: () => {
      if (heart !== null) clearInterval(heart);
      http.close();
    },
  };
}

/** The body of a good answer in the expected form; otherwise the error that it means. */
function read<T>(what: string, { status, body }: Answer, schema: z.ZodType<T>, url: string): T {
  if (status === 401 || status === 403) throw keyRefused(url, status);
  if (status === 404 && /not found$/i.test(detailOf(body)) && detailOf(body).toLowerCase() !== 'not found')
    throw failedThere(what, detailOf(body));
  if (status === 404 || status === 405 || status === 422) throw otherProtocol(what, `${status} ${detailOf(body)}`);
  if (status >= 400) throw failedThere(what, `${status} ${detailOf(body)}`);
  const failure = errorIn(body);
  if (failure !== null) throw failedThere(what, failure);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw otherProtocol(what, issue === undefined ? 'no details' : `"${issue.path.join('.')}": ${issue.message}`);
}

function detailOf(body: unknown): string {
  const detail = field(body, 'detail') ?? field(body, 'error') ?? field(body, 'message') ?? body;
  return typeof detail === 'string' ? detail : JSON.stringify(detail);
}

/** A failure that is sent as a good answer. */
function errorIn(body: unknown): string | null {
  const error = field(body, 'error');
  return typeof error === 'string' && error !== '' ? error : null;
}

function isPending({ body }: Answer): boolean {
  return field(body, 'type') === 'try_again';
}

function isQueued(body: unknown): boolean {
  const state = field(body, 'queue_state');
  return typeof state === 'string' && state.startsWith('paused');
}

function field(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && name in body
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}
