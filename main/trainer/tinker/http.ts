/**
 * HTTP to a remote engine. A request is posted once: it is repeated only where it can't have been received (no
 * connection, or refused for load), or does nothing there. The key goes to the engine's own address and nowhere else.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { BraidError } from '../../errors.ts';
import { certificateFault } from '../../io/certificate.ts';
import { MOST_ANSWER, readBody } from '../../io/read-body.ts';
import { formatBytes } from '../../text/format.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import { engineAddress } from './address.ts';
import { answerLost, badAnswer, certificateRefused, unreachable } from './errors.ts';
import { openPacking } from './packing.ts';

export interface Answer {
  readonly status: number;
  /** The body, as JSON; its text where it isn't JSON. */
  readonly body: unknown;
}

/** How long is waited; tests shorten it. */
export interface Patience {
  /** In all, for a server that doesn't answer. */
  readonly totalMs: number;
  /** Of one attempt of a request that may be repeated; of others it is the whole. */
  readonly attemptMs: number;
  /** Between the first two attempts; doubles up to 20 times as much. */
  readonly pauseMs: number;
  /** Between two heartbeats. */
  readonly heartbeatMs: number;
  /** For tidying up there, which nothing here needs. */
  readonly tidyMs: number;
}

export const PATIENCE: Patience = {
  totalMs: 600_000,
  attemptMs: 60_000,
  pauseMs: 500,
  heartbeatMs: 10_000,
  tidyMs: 10_000,
};

export interface Traffic {
  sentBytes: number;
  receivedBytes: number;
}

export interface Http extends Pick<Patience, 'tidyMs'> {
  readonly url: string;
  readonly traffic: Traffic;
  /** Posts a request that must not be carried out twice. */
  post(route: string, body: object): Promise<Answer>;
  /** Posts a request that may be repeated, until it is answered. */
  ask(route: string, body: object): Promise<Answer>;
  get(route: string): Promise<Answer>;
  /** Tries once: what isn't removed only takes space there. */
  remove(route: string): Promise<Answer>;
  /** The bytes behind a route, at most so many, following redirects; repeated until they have arrived whole. */
  download(route: string, maxBytes: number): Promise<{ readonly status: number; readonly bytes: Buffer }>;
  /** Ends whatever is under way. */
  close(): void;
}

/** Not accepted for load or too early: it wasn't carried out. */
const BUSY = new Set([425, 429]);
/** A gateway may answer so when the server behind it has done the work. */
const GATEWAY = new Set([502, 503, 504]);
const MAX_REDIRECTS = 3;

/** Opens the connection; nothing is sent yet. */
export function openHttp(engine: RemoteEngine, patience: Patience = PATIENCE): Http {
  const url = engineAddress(engine.url, engine.allowPlain);
  const closing = new AbortController();
  const traffic: Traffic = { sentBytes: 0, receivedBytes: 0 };
  const packing = openPacking();
  let heardAt = performance.now();

  async function once(method: string, route: string, body: object | null, withinMs: number): Promise<Answer> {
    const sent = body === null ? null : await packing.pack(JSON.stringify(body));
    const response = await fetch(`${url}/api/v1/${route}`, {
      method,
      headers: { ...headersFor(engine, url, sent !== null), ...(sent?.coding && { 'content-encoding': sent.coding }) },
      redirect: 'error',
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(withinMs)]),
      ...(sent !== null && { body: sent.body }),
    });
    const answer = (await within(response, MOST_ANSWER)).toString('utf8');
    heardAt = performance.now();
    packing.heard(response);
    traffic.sentBytes += sent?.body.length ?? 0;
    // Refused before it was read: nothing was carried out.
    if (response.status === 415 && sent?.coding != null) return once(method, route, body, withinMs);
    traffic.receivedBytes += answer.length;
    return { status: response.status, body: jsonOr(answer) };
  }

  /** `repeats`: whether an attempt that may have been received is made again. */
  async function attempts<A extends { readonly status: number; readonly body?: unknown }>(
    route: string,
    repeats: boolean,
    attempt: () => Promise<A>,
  ): Promise<A> {
    const until = performance.now() + patience.totalMs;
    for (let pause = patience.pauseMs; ; pause = Math.min(pause * 2, patience.pauseMs * 20)) {
      try {
        const answer = await attempt();
        const unclear = GATEWAY.has(answer.status) && !isServersOwn(answer);
        if (unclear && !repeats) throw answerLost(route, null, answer.status);
        const again = BUSY.has(answer.status) || answer.status === 503 || (repeats && GATEWAY.has(answer.status));
        if (!again || performance.now() + pause > until) return answer;
      } catch (error) {
        if (closing.signal.aborted || error instanceof BraidError) throw error;
        const refused = certificateFault(error);
        if (refused !== null) throw certificateRefused(url, refused);
        if (!repeats && !neverSent(error)) throw answerLost(route, error);
        // One slow answer is no silence while others arrive, such as those of heartbeats; a line that breaks is.
        const limit = isTimeout(error) ? Math.max(until, heardAt + patience.totalMs) : until;
        if (performance.now() + pause > limit) throw unreachable(url, reasonOf(error), error);
      }
      await sleep(pause);
    }
  }

  function repeated(method: string, route: string, body: object | null): Promise<Answer> {
    return attempts(route, true, () => once(method, route, body, patience.attemptMs));
  }

  /** There may be many bytes: they may take as long as a whole request. */
  async function downloadOnce(route: string, maxBytes: number) {
    let at = `${url}/api/v1/${route}`;
    for (let hop = 0; ; hop++) {
      const response = await fetch(at, {
        headers: headersFor(engine, at, false),
        redirect: 'manual',
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(patience.totalMs)]),
      });
      const next = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || next === null || hop === MAX_REDIRECTS) {
        const bytes = await within(response, maxBytes);
        heardAt = performance.now();
        traffic.receivedBytes += bytes.length;
        return { status: response.status, bytes };
      }
      at = new URL(next, at).href;
      engineAddress(at, engine.allowPlain);
    }
  }

  return {
    url,
    traffic,
    tidyMs: patience.tidyMs,
    post: (route, body) => attempts(route, false, () => once('POST', route, body, patience.totalMs)),
    ask: (route, body) => repeated('POST', route, body),
    get: (route) => repeated('GET', route, null),
    remove: (route) => once('DELETE', route, null, patience.tidyMs),
    download: (route, maxBytes) => attempts(route, true, () => downloadOnce(route, maxBytes)),
    close: () => closing.abort(),
  };
}

/** A longer one is refused while it arrives, and not requested again. */
async function within({ body }: Response, maxBytes: number): Promise<Buffer> {
  const bytes = await readBody(body, maxBytes);
  if (bytes === null) throw badAnswer('answer', `at most ${formatBytes(maxBytes)}, got more`);
  return bytes;
}

/** A redirect may lead to a store elsewhere, which must not see the key. */
function headersFor({ key, url }: RemoteEngine, target: string, hasBody: boolean): Record<string, string> {
  const own = new URL(target).origin === new URL(url).origin;
  return {
    ...(hasBody && { 'content-type': 'application/json' }),
    ...(key !== null && own && { 'x-api-key': key }),
  };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A refusal in the protocol's form, which no gateway has: the server says itself that it didn't carry it out. */
function isServersOwn({ body }: { readonly body?: unknown }): boolean {
  return typeof body === 'object' && body !== null && 'detail' in body && typeof body.detail === 'string';
}

/** What fetch hides in `cause`. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

/** Whether a failed fetch can't have reached anyone. */
export function neverSent(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(codeOf(error));
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function reasonOf(error: unknown): string {
  if (isTimeout(error)) return 'no answer in time';
  return codeOf(error) || (error instanceof Error ? error.message : String(error));
}
