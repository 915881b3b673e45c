/**
 * A server of the Tinker protocol for tests: on loopback, with real numbers by a model of this process, as strict as
 * SkyRL's about sequence numbers, names and order, and with faults on request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Model } from '../../../main/model/model.ts';
import { closeServer, listen } from '../../local-server.ts';
import { Refused, RemoteModels, type ServerRule } from './server-models.ts';

export interface Seen {
  readonly route: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string | null;
}

/** What goes wrong with a request. */
export type Fault =
  /** Answered so, without any work. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown }
  /** The connection breaks; before or after the work. */
  | { readonly kind: 'break'; readonly when: 'before' | 'after' };

export interface ServerOptions {
  readonly model: Model;
  readonly name?: string;
  readonly key?: string;
  /** How weights become gradients. */
  readonly rule?: ServerRule;
  /** The seed of new adapters, whatever is asked for. */
  readonly adapterSeed?: number;
  /** A fault for a request; null: none. */
  readonly fault?: (seen: Seen, before: readonly Seen[]) => Fault | null;
  /** Changes an answer of the work before it is kept. */
  readonly alter?: (route: string, answer: unknown) => unknown;
  /** How often a future is answered with 408 first. */
  readonly notYet?: (future: number) => number;
  /** After how long a future is ready, in ms. */
  readonly delay?: (future: number) => number;
}

export interface TinkerServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  readonly models: RemoteModels;
  /** Whether a session exists; false: it has expired. */
  expire(): void;
  /** Forgets futures, sessions and models, not checkpoints. */
  restart(): void;
  count(route: string): number;
  close(): Promise<void>;
}

type Outcome = { readonly value: unknown } | { readonly error: string };
interface Future {
  readonly outcome: Outcome;
  readonly readyAt: number;
  left: number;
}

export async function openTinkerServer(options: ServerOptions): Promise<TinkerServer> {
  const { name = 'tiny', key, fault = () => null, alter = (_, answer) => answer } = options;
  const seen: Seen[] = [];
  let sessions = new Set<string>();
  const futures: Future[] = [];
  let forgotten = 0;
  let expired = false;
  const models = new RemoteModels(options.model, options.rule ?? 'sum', options.adapterSeed ?? null);

  function begin(route: string, work: () => unknown): { readonly request_id: string } {
    let outcome: Outcome;
    try {
      if (expired) throw new Refused(400, 'Model not loaded (likely stale request from previous server)');
      outcome = { value: alter(route, work()) };
    } catch (error) {
      if (error instanceof Refused && error.now) throw error;
      outcome = { error: error instanceof Error ? error.message : String(error) };
    }
    const number = futures.length;
    const readyAt = performance.now() + (options.delay?.(number) ?? 0);
    futures.push({ outcome, readyAt, left: options.notYet?.(number) ?? 0 });
    return { request_id: String(number) };
  }

  function retrieve(request: number): { readonly status: number; readonly body: unknown } {
    const future = futures[request];
    if (future === undefined || request < forgotten) return { status: 404, body: { detail: 'Future not found' } };
    if (future.left-- > 0 || performance.now() < future.readyAt) return { status: 408, body: { detail: 'Timeout' } };
    if ('error' in future.outcome) return { status: 400, body: { detail: future.outcome.error } };
    return { status: 200, body: future.outcome.value };
  }

  function carryOut(route: string, body: Readonly<Record<string, unknown>>): { status: number; body: unknown } {
    const ok = (value: unknown) => ({ status: 200, body: value });
    switch (route) {
      case 'get_server_capabilities':
        return ok({ supported_models: [{ model_name: name }] });
      case 'create_session': {
        const session_id = `session_${sessions.size}`;
        sessions.add(session_id);
        return ok({ type: 'create_session', session_id });
      }
      case 'session_heartbeat':
        if (expired || !sessions.has(String(body.session_id)))
          return { status: 404, body: { detail: 'Session not found' } };
        return ok({ type: 'session_heartbeat' });
      case 'retrieve_future':
        return retrieve(Number(body.request_id));
      case 'create_model': {
        const model_id = models.nextId();
        const accepted = begin(route, () => models.create(model_id, body));
        return ok({ ...accepted, model_id, status: 'created' });
      }
      default:
        return ok(begin(route, () => models.work(route, body)));
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = (request.url ?? '').replace(/^\/api\/v1\//, '');
    const body = JSON.parse((await textOf(request)) || '{}') as Readonly<Record<string, unknown>>;
    const given = request.headers['x-api-key'];
    const one: Seen = { route, body, key: typeof given === 'string' ? given : null };
    const what = fault(one, seen);
    seen.push(one);
    if (key !== undefined && one.key !== key) return send(response, 401, { detail: 'Invalid key' });
    if (what?.kind === 'answer') return send(response, what.status, what.body);
    if (what?.kind === 'break' && what.when === 'before') return void request.socket.destroy();
    const archive = /^training_runs\/([^/]+)\/checkpoints\/([^/]+)\/(archive|download)$/.exec(route);
    if (archive !== null) {
      const breaks = what?.kind === 'break';
      return sendArchive(response, archive[1] ?? '', archive[2] ?? '', { redirects: archive[3] === 'archive', breaks });
    }
    const dropped = /^training_runs\/([^/]+)\/checkpoints\/((?:sampler_)?weights\/[^/]+)$/.exec(route);
    if (dropped !== null) {
      models.drop(dropped[1] ?? '', dropped[2] ?? '');
      return send(response, 204, null);
    }
    try {
      const answer = carryOut(route, body);
      if (what?.kind === 'break') return void request.socket.destroy();
      send(response, answer.status, answer.body);
    } catch (error) {
      send(response, error instanceof Refused ? error.status : 500, { detail: (error as Error).message });
    }
  }

  /** As SkyRL does: to the bytes by a redirect. `breaks`: in the middle of the bytes. */
  function sendArchive(
    response: ServerResponse,
    model: string,
    id: string,
    { redirects, breaks }: { readonly redirects: boolean; readonly breaks: boolean },
  ): void {
    const bytes = models.archive(model, id);
    const location = `/api/v1/training_runs/${model}/checkpoints/${id}/download`;
    if (bytes === null) send(response, 404, { detail: `Checkpoint not found: ${model}/${id}` });
    else if (redirects) response.writeHead(302, { location }).end();
    else if (breaks)
      response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, bytes.length / 2), () => {
        response.destroy();
      });
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
  }

  const server = createServer((request, response) => void handle(request, response));
  return {
    url: await listen(server),
    seen,
    models,
    expire: () => {
      expired = true;
    },
    restart: () => {
      expired = false;
      forgotten = futures.length;
      sessions = new Set();
      models.forget();
    },
    count: (route) => seen.filter((one) => one.route === route).length,
    close: () => {
      models.dispose();
      return closeServer(server);
    },
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body === null ? '' : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
