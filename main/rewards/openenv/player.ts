/**
 * Episodes on an OpenEnv server, one session each: a turn of the model becomes an action, and what is observed a message.
 * An episode is known by its actions: one whose session is lost to a turn that is sampled again is played again from them.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../../io/json.ts';
import { type ChatMessage, textOf } from '../../samples/chat-message.ts';
import { fitFaults } from '../../tasks/openenv/fit.ts';
import { FormFault, fillForm, fillText, type Lookup, placesIn, valueAt } from '../../tasks/openenv/form.ts';
import type { Description, Served, ServedState } from '../../tasks/openenv/messages.ts';
import type { OpenEnvSpec } from '../../tasks/openenv/spec.ts';
import { schemaFaults } from '../../tasks/sandbox/json-schema.ts';
import type { EnvironmentStep, EnvironmentTurn, TaskRecord } from '../../tasks/task.ts';
import { describeServer } from './pages.ts';
import type { Server } from './server.ts';
import { type Got, type Observed, openSession, type Session, type SessionFailure } from './session.ts';

/** Of a message, as that of a task's own `step`. */
const LONGEST_MESSAGE = 20_000;
/** Of a list of what doesn't fit. */
const MOST_FAULTS = 5;
/** Handshakes at a time: a listening socket has a queue. */
const MOST_OPENING = 32;
const CAPACITY = 'CAPACITY_REACHED';
const INVALID = 'VALIDATION_ERROR';
/** Between two looks for a place, of all sessions that wait for one. */
const RETRY_MS = 100;
/** Results that are remembered, to notice that an environment isn't deterministic. */
const MOST_KNOWN = 20_000;

export interface Stepped {
  /** A text: why it failed. */
  readonly step: EnvironmentStep | string;
  readonly changed: boolean;
}

export interface Player {
  step(turn: EnvironmentTurn): Promise<Stepped>;
  /** The message at the beginning of an episode, by this template. */
  start(reset: Readonly<Record<string, unknown>>, template: string): Promise<Got<string>>;
  describe(): Promise<Description | string>;
  examine(record: TaskRecord): Promise<{ readonly faults: readonly string[]; readonly notes: readonly string[] }>;
  /** Ends all episodes. */
  release(): void;
}

interface Live {
  readonly session: Session;
  /** Actions that it has had. */
  steps: number;
}

/** `key`: sent as a bearer token. */
export function openPlayer(
  { server: spec, component, maxTurns }: Omit<Served, 'files'>,
  server: Server,
  key: string | null,
): Player {
  const timeoutMs = spec.timeout_s * 1000;
  const live = new Map<number, Live>();
  const known = new Map<string, string>();
  let sessions = 0;
  let opening = 0;
  let crowd = 0;
  /** When the last session began. */
  let begunAt = 0;
  let described: Promise<Description | string> | null = null;

  const describe = async (): Promise<Description | string> => {
    const address = await server.address();
    if (typeof address === 'string') return address;
    described ??= describeServer(address.pages, key, Math.min(timeoutMs, 10_000));
    const description = await described;
    // A server that wasn't there may be there the next time.
    if (typeof description === 'string') described = null;
    return description;
  };

  /** Whether a result is another one than the last time; the same actions after the same reset have the same result. */
  const hasChanged = (asked: unknown, got: unknown): boolean => {
    const [name, value] = [asked, got].map((one) => createHash('sha256').update(JSON.stringify(one)).digest('base64'));
    if (name === undefined || value === undefined) return false;
    const before = known.get(name);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(name, value);
    return before !== undefined && before !== value;
  };

  /** What the server that Braid started has to do with a lost conversation. */
  const faultOf = async ({ code }: SessionFailure): Promise<string | null> => (code === null ? server.fault() : null);

  const connected = async (): Promise<Session | string> => {
    const address = await server.address();
    if (typeof address === 'string') return address;
    while (opening >= MOST_OPENING) await sleep(5);
    opening++;
    return openSession({ url: address.socket, key, timeoutMs });
  };

  /** A new session, reset. One that the server has no place for waits as long as others have their turn. */
  const begin = async (
    reset: unknown,
    patienceMs = timeoutMs,
  ): Promise<Got<{ readonly session: Session; readonly first: Observed }>> => {
    for (const began = performance.now(); ; ) {
      const session = await connected();
      if (typeof session === 'string') return { failure: session, code: null };
      const first = await session.observe('reset', reset).finally(() => opening--);
      if ('got' in first) {
        begunAt = performance.now();
        return { got: { session, first: first.got } };
      }
      session.close();
      if (first.code !== CAPACITY) return first;
      if (performance.now() - Math.max(began, begunAt) >= patienceMs)
        return {
          failure: `has no place for another session, beside ${live.size} of this run (max_concurrent_envs of the server)`,
          code: CAPACITY,
        };
      await sleep(RETRY_MS * ++crowd);
      crowd--;
    }
  };

  /** The beginning of an episode, as the model reads it. */
  const open = async ({ record }: EnvironmentTurn): Promise<Stepped> => {
    const reset = fillForm(spec.reset, (name) => valueAt(record, name));
    const begun = await begin(reset);
    if ('failure' in begun) return failed((await faultOf(begun)) ?? begun.failure);
    const { session, first } = begun.got;
    const message = first.done ? OVER : await messageOf(session, first);
    if ('failure' in message) {
      session.close();
      return failed(message.failure);
    }
    live.set(sessions, { session, steps: 0 });
    const state: ServedState = { session: sessions++, actions: [] };
    const step = { message: message.got, rewards: null, done: false, state };
    return { step, changed: hasChanged([reset], first) };
  };

  /** The session of a turn, with all actions before it. */
  const sessionFor = async (state: ServedState | null, reset: unknown, start: string | null) => {
    const { session: id = -1, actions = [] } = state ?? {};
    const found = live.get(id);
    if (found !== undefined && found.steps === actions.length) return { got: { id, live: found, changed: false } };
    if (spec.opens && state !== null)
      return { failure: 'has lost the episode, which can begin in another way', code: null };
    const begun = await begin(reset);
    if ('failure' in begun) return begun;
    const { session, first } = begun.got;
    const fail = (failure: string): SessionFailure => {
      session.close();
      return { failure, code: null };
    };
    if (first.done) return fail(OVER.failure);
    const shown = start === null ? null : await messageOf(session, first);
    if (shown !== null && !('got' in shown)) return fail(shown.failure);
    if (shown !== null && shown.got !== start)
      return fail(`began with ${quoted(shown.got)}, and the prompt has ${quoted(start ?? '')}: make the records again`);
    for (const action of actions) {
      const again = await session.observe('step', action);
      if ('failure' in again) return fail(again.failure);
    }
    const made: Live = { session, steps: actions.length };
    live.set(sessions, made);
    return { got: { id: sessions++, live: made, changed: hasChanged([reset], first) } };
  };

  const messageOf = async (session: Session, observed: Observed, template = spec.message): Promise<Got<string>> => {
    const needsState = placesIn(template).some(({ name }) => name.split('.')[0] === 'state');
    const state = needsState ? await session.state() : { got: {} };
    if ('failure' in state) return state;
    const text = messageText(template, observed, state.got);
    if (typeof text !== 'string') return text;
    if (text.length <= LONGEST_MESSAGE) return { got: text };
    return { failure: `gave a message of ${text.length} characters, at most ${LONGEST_MESSAGE}`, code: null };
  };

  const act = async (turn: EnvironmentTurn, action: unknown): Promise<Stepped> => {
    const reset = fillForm(spec.reset, (name) => valueAt(turn.record, name));
    const start = spec.start === null ? null : String(valueAt(turn.record, spec.start));
    const past = turn.state as ServedState | null;
    const found = await sessionFor(past, reset, start);
    if ('failure' in found) return failed((await faultOf(found)) ?? found.failure);
    const { id, live: own } = found.got;
    const actions = [...(past?.actions ?? []), action];
    const end = (step: Stepped['step'], changed = false): Stepped => {
      live.delete(id);
      own.session.close();
      return typeof step === 'string' ? failed(step) : { step, changed };
    };
    const observed = await own.session.observe('step', action);
    if ('failure' in observed) {
      const why = observed.code === INVALID ? misfit(observed) : null;
      // The model's own doing: it reads why, and the episode is where it was.
      if (why !== null) return { step: said(why, { session: id, actions: actions.slice(0, -1) }), changed: false };
      return end((await faultOf(observed)) ?? observed.failure);
    }
    own.steps++;
    const { reward, done } = observed.got;
    const message = await messageOf(own.session, observed.got);
    if ('failure' in message) return end(message.failure);
    const step: EnvironmentStep = {
      message: message.got.trim() === '' ? (done ? null : '(no message)') : message.got,
      rewards: reward === null ? null : { [component]: reward },
      done,
      state: { session: id, actions },
    };
    const changed = hasChanged([reset, actions], observed.got) || found.got.changed;
    // A place that others may wait for.
    return done || turn.turn >= maxTurns ? end(step, changed) : { step, changed };
  };

  return {
    step: async (turn) => {
      const description = await describe();
      if (typeof description === 'string') return failed(description);
      const [misfits] = fitFaults(spec, description);
      if (misfits !== undefined) return failed(misfits);
      if (turn.turn === 0) return open(turn);
      try {
        const action = actionOf(spec, turn.record, turn.messages.at(-1));
        const [fault] = schemaFaults(action, description.action);
        return fault === undefined
          ? await act(turn, action)
          : { step: said(`This action doesn't fit: ${fault}`, turn.state), changed: false };
      } catch (error) {
        if (!(error instanceof FormFault)) throw error;
        return { step: said(`No action could be read: ${error.message}`, turn.state), changed: false };
      }
    },
    start: async (reset, template) => {
      const begun = await begin(reset);
      if ('failure' in begun)
        return { ...begun, failure: failed((await faultOf(begun)) ?? begun.failure).step as string };
      const message = await messageOf(begun.got.session, begun.got.first, template);
      begun.got.session.close();
      return message;
    },
    describe,
    examine: async (record) => {
      const description = await describe();
      if (typeof description === 'string') return { faults: [`environment: ${description}`], notes: [] };
      const faults = fitFaults(spec, description);
      const notes = description.action === null ? ['environment: the server gives no schema of its actions.'] : [];
      const reset = fillForm(spec.reset, (name) => valueAt(record, name));
      const one = await begin(reset);
      let other = await begin(reset, 0);
      const end = (begun: typeof one): void => ('got' in begun ? begun.got.session.close() : undefined);
      if ('got' in one && 'failure' in other && other.code === CAPACITY) {
        notes.push(`environment: ${ONE_BY_ONE}`);
        end(one);
        other = await begin(reset);
      }
      for (const begun of [one, other]) {
        end(begun);
        if ('failure' in begun) faults.push(String(failed((await faultOf(begun)) ?? begun.failure).step));
      }
      const [first, second] = [one, other].map((begun) => ('got' in begun ? JSON.stringify(begun.got.first) : null));
      if (first !== null && second !== null && first !== second)
        notes.push(`environment: ${NOT_THE_SAME}${spec.start === null && !spec.opens ? ` ${UNREAD}` : ''}`);
      return { faults: [...new Set(faults)], notes };
    },
    release: () => {
      for (const { session } of live.values()) session.close();
      live.clear();
    },
  };
}

const OVER: SessionFailure = { failure: 'was over before the first action', code: null };
const ONE_BY_ONE =
  'the server has place for one session at a time: a run plays the completions of a batch one after the other.';
/** The model answers a beginning that nobody has shown it. */
const UNREAD = 'With `opens: true` the model reads how its own episode begins.';
const NOT_THE_SAME =
  'two resets with the same arguments began differently: it is not deterministic, and a resumed run may differ.';

function failed(reason: string): Stepped {
  return { step: `environment: ${reason.startsWith('environment') ? reason : subject(reason)}`, changed: false };
}

/** A reason is what the server did. */
function subject(reason: string): string {
  return /^(the server|http|environment)/.test(reason) ? reason : `the server ${reason}`;
}

/** What the model reads where nothing was done. */
function said(message: string, state: unknown): EnvironmentStep {
  return { message, rewards: null, done: false, state };
}

function actionOf({ action: form }: OpenEnvSpec, record: TaskRecord, said: ChatMessage | undefined): unknown {
  const completion = textOf(said ?? { content: '' });
  const lookup: Lookup = (name) => (name === 'completion' ? completion : valueAt(record, name));
  const action = fillForm(form, lookup);
  if (isJsonObject(action)) return action;
  throw new FormFault('expected a JSON object in the answer');
}

function messageText(
  template: string,
  { observation, reward, done }: Observed,
  state: Readonly<Record<string, unknown>>,
): string | SessionFailure {
  const all = { ...observation, observation, reward, done, state };
  const missing = placesIn(template).find(({ name }) => valueAt(all, name.split('.')[0] ?? '') === undefined);
  if (missing === undefined) return fillText(template, (name) => valueAt(all, name));
  return { failure: `gave an observation without "${missing.name}", which the message names`, code: null };
}

/** Why an action was refused, where that is the model's doing; null: the form has other fields than the server wants. */
function misfit({ errors = [] }: SessionFailure): string | null {
  const told = errors.filter(isJsonObject);
  if (told.length === 0 || told.some(({ type }) => type === 'missing' || type === 'extra_forbidden')) return null;
  const words = told.slice(0, MOST_FAULTS).map(({ loc, msg }) => {
    const where = Array.isArray(loc) ? loc.map(String).join('.') : '';
    return `${where === '' ? '' : `${where}: `}${String(msg).slice(0, 200)}`;
  });
  return `This action doesn't fit: ${words.join('; ')}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
