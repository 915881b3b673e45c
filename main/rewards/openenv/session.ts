/**
 * One conversation with an OpenEnv server: a WebSocket on which each message is answered by one. What comes is limited in
 * size and time before it is read; a conversation that broke a rule is over.
 */
import { WebSocket } from 'ws';
import { z } from 'zod';
import { isJsonObject, parseJsonExactly } from '../../io/json.ts';
import { checkedScore, shownValue } from '../component.ts';

/** Of one message from the server. */
const MAX_BYTES = 2 ** 20;
const MAX_REASON = 300;

export interface SessionPlace {
  readonly url: string;
  /** Sent as a bearer token; null: none. */
  readonly key: string | null;
  readonly timeoutMs: number;
}

/** What the environment says to a reset or an action. */
export interface Observed {
  readonly observation: Readonly<Record<string, unknown>>;
  /** null: none. */
  readonly reward: number | null;
  readonly done: boolean;
}

/** `code`: of the server's own error; null: the conversation is over. */
export interface SessionFailure {
  readonly failure: string;
  readonly code: string | null;
  /** Of an action that doesn't fit, pydantic's. */
  readonly errors?: readonly unknown[];
}

export type Got<T> = { readonly got: T } | SessionFailure;

type Json = Readonly<Record<string, unknown>>;

export interface Session {
  observe(type: 'reset' | 'step', data: unknown): Promise<Got<Observed>>;
  state(): Promise<Got<Json>>;
  close(): void;
}

/** Connects; never rejects: what goes wrong is the answer to what is asked next. */
export function openSession({ url, key, timeoutMs }: SessionPlace): Session {
  const socket = new WebSocket(url, {
    maxPayload: MAX_BYTES,
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    followRedirects: false,
    ...(key !== null && { headers: { authorization: `Bearer ${key}` } }),
  });
  let over: string | null = null;
  let waiting: ((reply: Got<Json>) => void) | null = null;
  let hasAsked = false;
  /** A server without a place for this session says so before it is asked anything. */
  let early: Got<Json> | null = null;
  const answer = (reply: Got<Json>): void => {
    waiting?.(reply);
    waiting = null;
  };
  const end = (why: string): void => {
    over ??= key === null ? why : why.replaceAll(key, '[key]');
    answer({ failure: over, code: null });
    socket.terminate();
  };
  socket.on('error', (error: NodeJS.ErrnoException) => end(reasonOf(error)));
  socket.on('unexpected-response', (_, response) => end(`refused the connection with status ${response.statusCode}`));
  socket.on('close', (code, reason) =>
    end(`closed the connection (${shortened(`${code} ${reason.toString()}`.trim())})`),
  );
  socket.on('message', (data, isBinary) => {
    if (waiting === null && (hasAsked || early !== null)) return end('sent a message that nobody had asked for');
    if (isBinary) return end('sent bytes, not text');
    const text = data.toString();
    try {
      const value = parseJsonExactly(text);
      if (isJsonObject(value) && waiting === null) {
        early = { got: value };
        return;
      }
      if (isJsonObject(value)) return answer({ got: value });
      end(`sent what isn't a JSON object: ${shownValue(value)}`);
    } catch {
      end(`sent what isn't JSON: ${shownValue(text)}`);
    }
  });

  const opened = new Promise<void>((resolve) => {
    socket.once('open', resolve);
    socket.once('close', () => resolve());
  });
  const ask = async (message: object): Promise<Got<Json>> => {
    await opened;
    const first = early;
    [hasAsked, early] = [true, null];
    if (first !== null) return first;
    if (over !== null) return { failure: over, code: null };
    const timer = setTimeout(() => end(`gave no answer within ${timeoutMs / 1000} s`), timeoutMs);
    try {
      return await new Promise((resolve) => {
        waiting = resolve;
        socket.send(JSON.stringify(message));
      });
    } finally {
      clearTimeout(timer);
    }
  };
  /** The data of an answer of this type. */
  const data = async (message: object, type: string): Promise<Got<Json>> => {
    const reply = await ask(message);
    if ('failure' in reply) return reply;
    const { type: told, data: inside } = reply.got;
    if (told === 'error') return stated(inside, key);
    if (told === type && isJsonObject(inside)) return { got: inside };
    const why = `sent a message that isn't an ${type} with data: ${shownValue(reply.got)}`;
    end(why);
    return { failure: why, code: null };
  };

  return {
    observe: async (type, given) => {
      const found = await data({ type, data: given }, 'observation');
      if ('failure' in found) return found;
      const { data: observed, error } = observedSchema.safeParse(found.got);
      if (error !== undefined) {
        const [{ path = [], message = '' } = {}] = error.issues;
        return { failure: `sent an observation whose ${path.join('.') || 'form'} is wrong: ${message}`, code: FORM };
      }
      const reward = observed.reward === null ? null : checkedScore(Number(observed.reward));
      return typeof reward === 'string' ? { failure: reward, code: FORM } : { got: { ...observed, reward } };
    },
    state: () => data({ type: 'state' }, 'state'),
    close: () => {
      if (over !== null) return;
      over = 'was closed';
      if (socket.readyState !== WebSocket.OPEN) return socket.terminate();
      // The server closes; one that doesn't is cut off.
      socket.send('{"type":"close"}');
      setTimeout(() => socket.terminate(), 1000).unref();
    },
  };
}

const observedSchema = z.object({
  observation: z.record(z.string(), z.unknown()),
  reward: z.union([z.number(), z.boolean()]).nullable().default(null),
  done: z.boolean(),
});

/** The code of answers that have another form than the protocol's. */
const FORM = 'FORM';

/** An error that the server states; it may repeat the key. */
function stated(data: unknown, key: string | null): SessionFailure {
  const { message = null, code = null, errors } = isJsonObject(data) ? data : {};
  const text = `answered with an error: ${shortened(typeof message === 'string' ? message : shownValue(data))}`;
  return {
    failure: key === null ? text : text.replaceAll(key, '[key]'),
    code: typeof code === 'string' ? code.slice(0, 100) : 'ERROR',
    ...(Array.isArray(errors) && { errors }),
  };
}

function shortened(text: string): string {
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…` : text;
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return `sent more than ${MAX_BYTES / 2 ** 20} MiB`;
  return code?.startsWith('WS_ERR') === true
    ? `broke the protocol (${shortened(message)})`
    : `can't be reached (${code ?? shortened(message)})`;
}
