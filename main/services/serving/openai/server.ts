/** A kept model at an OpenAI-compatible address of this machine: on the loopback interface, with a key. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BraidError, inputError } from '../../../errors.ts';
import { parseJson } from '../../../io/json.ts';
import { isOwnHost, sameSecret } from '../../../io/own-host.ts';
import type { KeptModel } from '../kept-model.ts';
import { answerChunks, answerWhole } from './answer.ts';
import { errorBody, invalid, type Refusal, refusalOf, refused } from './errors.ts';
import { type ParsedRequest, parseChat, parseCompletion } from './requests.ts';

export interface ModelAddress {
  /** Ends with /v1. */
  readonly address: string;
  readonly key: string;
  readonly port: number;
  /** Ends what is being answered. */
  close(): Promise<void>;
}

export interface AddressOptions {
  readonly kept: Pick<KeptModel, 'ask' | 'context'>;
  /** What requests call the model. */
  readonly name: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A context of tokens as text, with room. */
const MOST_BYTES = 16 * 2 ** 20;
const MOST_DISCARDED = 8 * MOST_BYTES;

/** Opens the address. */
export async function openAddress({ kept, name, port: wanted }: AddressOptions): Promise<ModelAddress> {
  const key = `sk-${randomBytes(24).toString('base64url')}`;
  const created = Math.floor(Date.now() / 1000);
  const about = { id: name, object: 'model', created, owned_by: 'braid', max_model_len: kept.context };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = admit(request, key);
    if (refusal !== null) return refuse(response, refusal);
    const path = (request.url ?? '').replace(/\?.*$/s, '');
    const method = request.method ?? '';
    const asks = { '/v1/chat/completions': parseChat, '/v1/completions': parseCompletion }[path];
    const isKnown = asks !== undefined || path === '/v1/models' || path.startsWith('/v1/models/');
    if (!isKnown)
      return refuse(response, refused(404, `Unknown request URL: ${method} ${path.slice(0, 200)}`, 'unknown_url'));
    const needed = asks === undefined ? 'GET' : 'POST';
    if (method !== needed)
      return refuse(response, refused(405, `Expected ${needed}, got ${method}`, 'method_not_supported'));
    if (path === '/v1/models') return send(response, 200, { object: 'list', data: [about] });
    if (asks === undefined) {
      const asked = decoded(path.slice('/v1/models/'.length));
      return asked === name ? send(response, 200, about) : refuse(response, noModel(asked, name));
    }
    const body = await readJson(request);
    if ('refusal' in body) return refuse(response, body.refusal);
    const parsed = asks(body.value);
    if ('refusal' in parsed) return refuse(response, parsed.refusal);
    if (parsed.request.model !== name) return refuse(response, noModel(parsed.request.model, name));
    await answer(response, path === '/v1/completions' ? 'text' : 'chat', parsed.request);
  }

  async function answer(response: ServerResponse, kind: 'chat' | 'text', request: ParsedRequest): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      if (!request.stream) return send(response, 200, await answerWhole(kind, kept, request, gone.signal));
      for await (const chunk of answerChunks(kind, kept, request, gone.signal))
        await event(response, JSON.stringify(chunk));
      await event(response, '[DONE]');
      response.end();
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      if (!response.headersSent) return refuse(response, refusalOf(error));
      await event(response, JSON.stringify(errorBody(refusalOf(error))));
      response.end();
    }
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, message, type: 'server_error', param: null, code: null });
    });
  });
  // A body that never comes holds no socket for ever.
  server.requestTimeout = 60_000;
  const port = await listen(server, wanted);
  return {
    address: `http://127.0.0.1:${port}/v1`,
    key,
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Only this machine's own names, no other site's page, and only with the key. */
function admit({ headers }: IncomingMessage, key: string): Refusal | null {
  const { host, origin, authorization = '' } = headers;
  if (!isOwnHost(host)) return refused(403, 'Expected the host 127.0.0.1 or localhost');
  if (origin !== undefined && origin !== `http://${host}`) return refused(403, 'Expected no page of another origin');
  const given = /^Bearer (.+)$/i.exec(authorization)?.[1]?.trim();
  if (given === undefined)
    return refused(401, "You didn't provide an API key: send it as 'Authorization: Bearer KEY'", 'missing_api_key');
  return sameSecret(given, key)
    ? null
    : refused(401, 'Incorrect API key provided: it is printed where the model is served', 'invalid_api_key');
}

function noModel(asked: string, name: string): Refusal {
  return refused(404, `The model '${asked.slice(0, 200)}' does not exist: '${name}' is served here`, 'model_not_found');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Body = { readonly value: unknown } | { readonly refusal: Refusal };

async function readJson(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    // A client reads the refusal only after it has sent everything; one that never ends is cut off.
    if (size <= MOST_BYTES) parts.push(part);
    else parts.length = 0;
    if (size > MOST_DISCARDED) request.destroy();
  }
  if (size > MOST_BYTES)
    return { refusal: refused(413, `Expected a body of at most ${MOST_BYTES} bytes`, 'request_too_large') };
  try {
    const bytes = Buffer.concat(parts);
    return { value: parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch (error) {
    const why = (error as Error).message;
    return { refusal: invalid(`We could not parse the JSON body of your request: ${why}`) };
  }
}

function send(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(body);
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  send(response, refusal.status, errorBody(refusal));
}

/** Sends an event; waits where the client reads slower than the model writes. */
async function event(response: ServerResponse, data: string): Promise<void> {
  if (!response.headersSent)
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
  if (response.write(`data: ${data}\n\n`) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

function listen(server: Server, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      const message = `Port ${wanted} can't be opened (${error.code})`;
      reject(taken ? inputError('PORT_TAKEN', message, 'Choose another port.') : error);
    });
    server.listen(wanted, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
