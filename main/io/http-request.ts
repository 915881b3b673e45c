/**
 * One HTTP request without what fetch adds. Node's fetch sends `sec-fetch-mode`, by which a Ray dashboard takes it for a
 * browser and refuses everything that changes anything.
 */
import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { readAnswer } from './read-body.ts';

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends it once and follows no redirect; rejects where nothing answers, not in time, or with too much. */
export function httpRequest(url: string, { method, headers, body, timeoutMs }: HttpRequest): Promise<HttpAnswer> {
  const send = new URL(url).protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = send(url, { method, headers: { ...headers, ...length }, signal }, (answer) => {
      readAnswer(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    });
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}
