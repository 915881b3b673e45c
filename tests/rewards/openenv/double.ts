/** A double of an OpenEnv server (openenv-core 0.3.0): its pages, and /ws with a session for each connection. */
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

type Json = Readonly<Record<string, unknown>>;

/** What a session answers; a text is sent as it is. */
export type Answers = (message: { readonly type: string; readonly data?: Json }, socket: WebSocket) => unknown;

export interface DoubleOptions {
  /** A fresh one for each session. */
  readonly session?: () => Answers;
  readonly schema?: Json | null;
  /** Sessions at a time. */
  readonly places?: number;
  /** By default a free one. */
  readonly port?: number;
}

const properties = { guess: { type: 'integer' }, said: { type: 'string' }, metadata: { type: 'object' } };

/** The schemas of `guessing`. */
export const GUESS_SCHEMA: Json = {
  action: { type: 'object', properties, required: ['guess'], additionalProperties: false },
  observation: { type: 'object', properties: { hint: { type: 'string' }, done: {}, reward: {}, metadata: {} } },
  state: { type: 'object' },
};

export const observed = (observation: Json, reward: number | null, done: boolean): Json => ({
  type: 'observation',
  data: { observation, reward, done },
});

/** Guess the number that the seed is; closer is better. */
export function guessing(): Answers {
  let [secret, steps] = [0, 0];
  return ({ type, data = {} }) => {
    if (type === 'state') return { type: 'state', data: { step_count: steps } };
    if (type === 'reset') {
      secret = Number(data.seed);
      steps = 0;
      return observed({ hint: `A number from 0 to 9, game ${secret}` }, null, false);
    }
    steps++;
    const guess = Number(data.guess);
    const hint = guess === secret ? 'Right.' : guess < secret ? 'Higher.' : 'Lower.';
    return observed({ hint }, guess === secret ? 1 : -0.1, guess === secret);
  };
}

export interface Double {
  readonly url: string;
  /** Open sessions. */
  open(): number;
  /** All that there were. */
  opened(): number;
  /** Every message that it was sent. */
  readonly messages: readonly unknown[];
  close(): void;
}

/** Serves it. */
export async function openDouble({
  session = guessing,
  schema = GUESS_SCHEMA,
  places = Number.POSITIVE_INFINITY,
  port = 0,
}: DoubleOptions = {}): Promise<Double> {
  const messages: unknown[] = [];
  let [opened, playing] = [0, 0];
  const pages: Readonly<Record<string, unknown>> = {
    '/health': { status: 'healthy' },
    '/metadata': { name: 'guessing', description: 'Guess a number.' },
    ...(schema !== null && { '/schema': schema }),
  };
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(url in pages ? 200 : 404).end(JSON.stringify(pages[url] ?? { detail: 'Not Found' }));
  });
  const sockets = new WebSocketServer({ server, path: '/ws' });
  sockets.on('connection', (socket) => {
    opened++;
    if (playing >= places) {
      socket.send(JSON.stringify({ type: 'error', data: { message: 'full', code: 'CAPACITY_REACHED' } }));
      return socket.close();
    }
    const answers = session();
    playing++;
    socket.on('close', () => {
      playing--;
    });
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      messages.push(message);
      if (message.type === 'close') return socket.close();
      const answer = answers(message, socket);
      if (answer !== undefined) socket.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    open: () => sockets.clients.size,
    opened: () => opened,
    messages,
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}
