/**
 * JSON posted to an address that computes rewards. What may succeed later is tried again after a growing pause; a
 * redirect is not followed, since what is sent was agreed to for one address; a huge answer is cut off while it arrives.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateFault } from '../io/certificate.ts';
import { sendRequest } from '../io/http-request.ts';
import { readBody } from '../io/read-body.ts';

export interface PostOptions {
  /** Sent as a bearer token; null: none. */
  readonly key: string | null;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Further attempts. */
  readonly retries: number;
  /** Of the answer. */
  readonly maxBytes: number;
  /** How the answer is read; by default as JSON with numbers. */
  readonly parse?: (text: string) => unknown;
  readonly signal: AbortSignal;
  /** Before the second attempt; doubles up to 40 times as much. */
  readonly pauseMs?: number;
}

/** The parsed answer, or why there is none; `isDown`: nobody may be there, whatever is asked. */
export type Posted = { readonly body: unknown } | { readonly failure: string; readonly isDown: boolean };

/** Asks no more of a server that has not answered so many requests in a row: a batch would take hours to fail. */
export interface Breaker {
  ask(post: () => Promise<Posted>): Promise<Posted>;
}

/** Opens it for one batch. */
export function openBreaker(most: number): Breaker {
  let inRow = 0;
  return {
    ask: async (post) => {
      if (inRow >= most)
        return { failure: `was not asked, as it did not answer ${inRow} requests in a row`, isDown: true };
      const posted = await post();
      inRow = 'failure' in posted && posted.isDown ? inRow + 1 : 0;
      return posted;
    },
  };
}

interface Attempt {
  readonly result: Posted;
  /** Whether another attempt may succeed; after so long, if the server says how long. */
  readonly again: boolean;
  readonly afterMs: number | null;
}

const PAUSE_MS = 500;
const MOST_PAUSES = 40;
/** A server may ask for a pause, but not for an hour. */
const LONGEST_PAUSE_MS = 60_000;

/** Posts until it is answered, at most 1 + `retries` times. */
export async function postJson(url: string, body: object, options: PostOptions): Promise<Posted> {
  const { retries, signal, pauseMs = PAUSE_MS } = options;
  const content = JSON.stringify(body);
  for (let tried = 1, pause = pauseMs; ; tried++, pause = Math.min(2 * pause, MOST_PAUSES * pauseMs)) {
    const { result, again, afterMs } = await attempt(url, content, options);
    if (!again || tried > retries || signal.aborted) return withTries(result, tried);
    await sleep(Math.min(afterMs ?? pause, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
}

async function attempt(url: string, content: string, options: PostOptions): Promise<Attempt> {
  const { key, timeoutMs, maxBytes, signal, parse = JSON.parse } = options;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'braid',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const hide = hiding(key);
  let isAnswering = false;
  try {
    const request = { method: 'POST', headers, body: content };
    const response = await sendRequest(url, request, ends);
    isAnswering = true;
    const bytes = await readBody(response, maxBytes);
    if (bytes === null) return final(`answered with more than ${Math.round(maxBytes / 2 ** 20)} MiB`);
    return judged(response.statusCode ?? 0, response.headers, hide, readJson(bytes, parse, hide), key !== null);
  } catch (error) {
    const refused = certificateFault(error);
    if (refused !== null) return final(`has a certificate that ${refused.why}. ${refused.remedy}`, true);
    const isTimeout = ends.aborted && ends.reason instanceof Error && ends.reason.name === 'TimeoutError';
    const what = isAnswering ? 'interrupted its answer' : "can't be reached";
    const why = isTimeout ? `gave no answer within ${timeoutMs / 1000} s` : `${what} (${hide(reasonOf(error))})`;
    return later(why, true);
  }
}

/** An answer's text without the key, which a server may repeat: reasons are stored with completions. */
type Hide = (text: string) => string;

function hiding(key: string | null): Hide {
  return key === null ? (text) => text : (text) => text.replaceAll(key, '[key]');
}

interface Read {
  readonly text: string;
  /** undefined: it isn't JSON. */
  readonly body: unknown;
}

function readJson(bytes: Buffer, parse: (text: string) => unknown, hide: Hide): Read {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  try {
    return { text: hide(text), body: hideIn(parse(text), hide) };
  } catch {
    return { text: hide(text), body: undefined };
  }
}

function hideIn(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((one) => hideIn(one, hide));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hideIn(one, hide)]));
}

function judged(
  answered: number,
  headers: IncomingHttpHeaders,
  hide: Hide,
  { text, body }: Read,
  hadKey: boolean,
): Attempt {
  const status = statusIn(body) ?? answered;
  if (status >= 300 && status < 400)
    return final(`redirects to ${hide(headers.location ?? 'nowhere')}, which was not agreed to`);
  if (status === 401 || status === 403)
    return final(`${hadKey ? 'refused the key' : 'needs a key'} (${status}); keep one on the task's screen`);
  if (status >= 400) {
    const failure = `answered with status ${status}: ${text.slice(0, 200)}`;
    return mayPass(status) ? later(failure, true, retryAfter(headers['retry-after'])) : final(failure);
  }
  // An answer whose end is missing looks so too.
  return body === undefined
    ? later(`gave no JSON, but ${JSON.stringify(text.slice(0, 120))}`, false)
    : { result: { body }, again: false, afterMs: null };
}

/** What passes by itself: too many requests, a busy or restarting server, or whatever stands before it. */
function mayPass(status: number): boolean {
  return status >= 500 || [408, 409, 425, 429].includes(status);
}

/** Of gateways that answer with 200 before the model behind them has failed. */
function statusIn(body: unknown): number | null {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'number' && code >= 400 && code < 600 ? code : null;
}

function final(failure: string, isDown = false): Attempt {
  return { result: { failure, isDown }, again: false, afterMs: null };
}

function later(failure: string, isDown: boolean, afterMs: number | null = null): Attempt {
  return { result: { failure, isDown }, again: true, afterMs };
}

/** Seconds or a date (RFC 9110, 10.2.3), in milliseconds. */
function retryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function withTries(result: Posted, tried: number): Posted {
  if (!('failure' in result) || tried === 1) return result;
  return { ...result, failure: `${result.failure}, ${tried} times` };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
