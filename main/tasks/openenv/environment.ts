/**
 * The environment of an OpenEnv server, for whoever samples: its conversations are held by a thread of their own, which
 * asks the server for all of a batch at the same time.
 */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import { type ExternalAccess, reachOf } from '../external/access.ts';
import { notAllowed, passedEnvironment } from '../external/scorer.ts';
import type { EnvironmentDefinition } from '../folder/environment-definition.ts';
import { openLaterReplies } from '../later-replies.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import type { Environment, EnvironmentStep, EnvironmentTurn } from '../task.ts';
import type { Description, Served, ServedReply, ServedRequest } from './messages.ts';
import { ENVIRONMENT } from './spec.ts';

type Access = Pick<ExternalAccess, 'worker' | 'allowed' | 'keys'>;
type Thread = SyncThread<ServedRequest, ServedReply>;
type Stepped = Extract<ServedReply, { readonly kind: 'stepped' }>;

const START_MS = 600_000;
/** The thread gives a sign of life every second, whatever it waits for. */
const SILENCE_MS = 120_000;
const CLOSE_MS = 5000;

/** The environment with what its thread holds. `access`: null: the user wasn't asked, and nothing is reached. */
export function openServedEnvironment(
  { max_turns, max_turn_tokens }: Pick<EnvironmentDefinition, 'max_turns' | 'max_turn_tokens'>,
  own: Omit<Served, 'maxTurns'>,
  access: Access | null,
): Environment & { readonly close: () => void } {
  const { thread, close } = openThread({ ...own, maxTurns: max_turns }, access);
  let changed = false;
  let asked = 0;
  const replies = openLaterReplies<Stepped>(
    SILENCE_MS,
    (reply) => (reply.kind === 'stepped' ? (reply as Stepped).place : null),
    () => ended(thread({ ifStarted: true })),
  );
  const ask = (turns: readonly EnvironmentTurn[]) => {
    const [own, first] = [thread(), asked];
    asked += turns.length;
    own.ask({ kind: 'step', turns, first });
    return { own, first };
  };
  const heard = (reply: Stepped): EnvironmentStep | string => {
    changed ||= reply.changed;
    return reply.step;
  };
  return {
    maxTurns: max_turns,
    maxTurnTokens: max_turn_tokens ?? null,
    ...(own.server.opens && { opens: true }),
    step: (turns) => {
      if (turns.length === 0) return [];
      const { own, first } = ask(turns);
      const steps: (EnvironmentStep | string)[] = [];
      for (let left = turns.length; left > 0; ) {
        const reply = untilReply(own, 'stepped');
        // One that nobody waits for any more is of a batch that was given up.
        if (reply.place < first) continue;
        steps[reply.place - first] = heard(reply);
        left--;
      }
      return steps;
    },
    stepLater: (turns) => {
      if (turns.length === 0) return [];
      const { own, first } = ask(turns);
      return turns.map(async (_, i) => heard(await replies.of(own, first + i)));
    },
    release: () => thread({ ifStarted: true })?.ask({ kind: 'release' }),
    takeChanged: () => {
      const was = changed;
      changed = false;
      return was;
    },
    examine: (record) => {
      const own = thread();
      own.ask({ kind: 'examine', record });
      const { faults, notes } = untilReply(own, 'examined');
      return { faults, notes };
    },
    close,
  };
}

/** A server before there is a task for it: what it says of itself, and how episodes begin. The app works meanwhile. */
export interface Prospect {
  /** A text: why it says nothing. */
  describe(): Promise<Description | string>;
  starts(
    message: string,
    resets: readonly Readonly<Record<string, unknown>>[],
  ): Promise<Extract<ServedReply, { kind: 'started' }>['messages']>;
  close(): Promise<void>;
}

/** Opens it; the user has named it. */
export function openProspect(served: Served, access: Access): Prospect {
  const thread = startPlaying(served, access);
  const asked = async <K extends ServedReply['kind']>(request: ServedRequest, kind: K) => {
    thread.ask(request);
    for (;;) {
      const reply = await thread.later(SILENCE_MS);
      if (reply?.kind === kind) return reply as Extract<ServedReply, { kind: K }>;
      if (reply === null) throw ended(thread);
    }
  };
  return {
    describe: async () => (await asked({ kind: 'describe' }, 'described')).description,
    starts: async (message, resets) => (await asked({ kind: 'starts', message, resets }, 'started')).messages,
    close: async () => {
      // A thread that is gone has ended its server.
      await asked({ kind: 'close' }, 'closed').catch(() => undefined);
      thread.end();
    },
  };
}

/** The thread that plays it; refuses what the user hasn't agreed to. */
function startPlaying(served: Served, access: Access | null): Thread {
  const hash = reachOf(ENVIRONMENT, served.server, served.files)?.hash ?? '';
  if (access === null || !access.allowed.includes(hash)) throw notAllowed(ENVIRONMENT);
  const data = { served: { ...served, access: { keys: access.keys } } };
  return startSyncThread(access.worker, data, { env: passedEnvironment() });
}

function openThread(served: Served, access: Access | null) {
  let running: Thread | null = null;
  const start = (): Thread => {
    const fresh = startPlaying(served, access);
    untilReply(fresh, 'ready', START_MS);
    return fresh;
  };
  function thread(): Thread;
  function thread(which: { readonly ifStarted: true }): Thread | null;
  function thread(which?: { readonly ifStarted: true }): Thread | null {
    if (which === undefined) running ??= start();
    return running;
  }
  const close = (): void => {
    running?.ask({ kind: 'close' });
    // The server that it started ends with it.
    for (let reply = running?.next(CLOSE_MS) ?? null; reply !== null && reply.kind !== 'closed'; )
      reply = running?.next(CLOSE_MS) ?? null;
    running?.end();
    running = null;
  };
  return { thread, close };
}

function untilReply<K extends ServedReply['kind']>(
  thread: Thread,
  kind: K,
  silenceMs = SILENCE_MS,
): Extract<ServedReply, { kind: K }> {
  for (;;) {
    const reply = thread.next(silenceMs);
    if (reply?.kind === kind) return reply as Extract<ServedReply, { kind: K }>;
    if (reply?.kind === 'alive' || reply?.kind === 'stepped') continue;
    throw ended(thread);
  }
}

function ended(thread: Thread | null): BraidError {
  const fault = thread?.fault() ?? null;
  return new BraidError(
    'REWARD_THREAD',
    `The thread that plays environments ended${fault === null ? '' : `: ${fault}`}`,
    {
      remedy: `${(fault !== null && startRemedy(fault)) || 'Close other programs and try again.'} Checkpoints up to the last one are safe.`,
    },
  );
}
