/**
 * One HTTP request without what fetch adds. Node's fetch sends `sec-fetch-mode`, by which a Ray dashboard takes it for a
 * browser and refuses everything that changes anything; and it waits no longer than five minutes for an answer to begin.
 */
import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { readAnswer } from './read-body.ts';

export interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

export interface HttpRequest extends SentRequest {
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends it once and follows no redirect; rejects where nothing answers, not in time, or with too much. */
export async function httpRequest(url: string, { timeoutMs, ...request }: HttpRequest): Promise<HttpAnswer> {
  const answer = await sendRequest(url, request, AbortSignal.timeout(timeoutMs));
  return { status: answer.statusCode ?? 0, text: await readAnswer(answer) };
}

/** The same with the answer's body still to be read. The signal ends that, too. */
export function sendRequest(
  url: string,
  { method, headers, body }: SentRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = new URL(url).protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = send(url, { method, headers: { ...headers, ...length }, signal }, resolve);
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}
