/**
 * JSON posted to an address that computes rewards. What may succeed later is tried again after a growing pause; a
 * redirect is not followed, since what is sent was agreed to for one address; a huge answer is cut off while it arrives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
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

const AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);
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
    if (!again || tried > retries || signal.aborted) return withTries(result, tried, options.key);
    await sleep(Math.min(afterMs ?? pause, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
}

async function attempt(url: string, content: string, options: PostOptions): Promise<Attempt> {
  const { key, timeoutMs, maxBytes, signal, parse = JSON.parse } = options;
  let isAnswering = false;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: content,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    isAnswering = true;
    const bytes = await readBody(response.body, maxBytes);
    if (bytes === null) return final(`answered with more than ${Math.round(maxBytes / 2 ** 20)} MiB`);
    return judged(response, bytes.toString('utf8'), key !== null, parse);
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    const what = isAnswering ? 'interrupted its answer' : "can't be reached";
    const why = isTimeout ? `gave no answer within ${timeoutMs / 1000} s` : `${what} (${reasonOf(error)})`;
    return { result: { failure: why, isDown: true }, again: true, afterMs: null };
  }
}

function judged(
  { status, headers }: Response,
  text: string,
  hadKey: boolean,
  parse: (text: string) => unknown,
): Attempt {
  if (status >= 300 && status < 400)
    return final(`redirects to ${headers.get('location') ?? 'nowhere'}, which was not agreed to`);
  if (status === 401 || status === 403)
    return final(`${hadKey ? 'refused the key' : 'needs a key'} (${status}); keep one on the task's screen`);
  if (status >= 400)
    return {
      result: { failure: `answered with status ${status}: ${text.slice(0, 200)}`, isDown: AGAIN.has(status) },
      again: AGAIN.has(status),
      afterMs: retryAfter(headers.get('retry-after')),
    };
  try {
    return { result: { body: parse(text) }, again: false, afterMs: null };
  } catch {
    return final(`gave no JSON, but ${JSON.stringify(text.slice(0, 120))}`);
  }
}

function final(failure: string): Attempt {
  return { result: { failure, isDown: false }, again: false, afterMs: null };
}

/** Seconds or a date (RFC 9110, 10.2.3), in milliseconds. */
function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** A server may repeat the key in its answer, and a reason is stored with the completion. */
function withTries(result: Posted, tried: number, key: string | null): Posted {
  if (!('failure' in result)) return result;
  const failure = key === null ? result.failure : result.failure.replaceAll(key, '[key]');
  return { failure: tried === 1 ? failure : `${failure}, ${tried} times`, isDown: result.isDown };
}

/** What fetch hides in `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : String(error);
}
