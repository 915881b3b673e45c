/** Scores batches of completions with components outside the sandbox, which another thread computes side by side. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import type { Answer } from '../task.ts';
import { PROXY_VARIABLES, reachOf } from './access.ts';
import type { ComponentScores, ExternalProgram, ExternalReply, ExternalRequest } from './messages.ts';

export interface ExternalScorer {
  /** Starts a batch; its result is waited for by `finish`, so that other rewards are computed meanwhile. */
  begin(answers: readonly Answer[]): void;
  finish(): Readonly<Record<string, ComponentScores>>;
  close(): void;
}

type Thread = SyncThread<ExternalRequest, ExternalReply>;

const THREAD = 'The thread that asks commands, servers and models for rewards';

/** To load a thread's code, and models, on a busy machine. */
const START_MS = 600_000;
/** The thread gives a sign of life every second, whatever it waits for. */
const SILENCE_MS = 120_000;
const CLOSE_MS = 5000;
const RESOURCES = { stackSizeMb: 32 };

/** Opens a scorer without a thread yet. Throws if the user hasn't agreed to what a component reaches. */
export function openExternalScorer(program: ExternalProgram): ExternalScorer {
  checkAllowed(program);
  let thread: Thread | null = null;

  function started(): Thread {
    const fresh: Thread = startSyncThread(
      program.access.worker,
      { program },
      { resourceLimits: RESOURCES, env: passedEnvironment() },
    );
    const first = untilReply(fresh, START_MS);
    if (first?.kind === 'ready') return fresh;
    fresh.end();
    if (first?.kind === 'refused')
      throw new BraidError(first.code, first.reason, {
        kind: 'input',
        ...(first.remedy === null ? {} : { remedy: first.remedy }),
      });
    throw didNotStart('REWARD_THREAD', THREAD, fresh.fault());
  }

  return {
    begin: (answers) => {
      thread ??= started();
      thread.ask({ kind: 'score', answers });
    },
    finish: () => {
      const reply = thread === null ? null : untilReply(thread, SILENCE_MS);
      if (reply?.kind === 'scored') return reply.components;
      const fault = thread?.fault() ?? null;
      thread?.end();
      thread = null;
      throw dead(fault);
    },
    close: () => {
      if (thread === null) return;
      // Its commands end with it.
      thread.ask({ kind: 'close' });
      untilReply(thread, CLOSE_MS);
      thread.end();
      thread = null;
    },
  };
}

function checkAllowed({ components, files, access }: ExternalProgram): void {
  for (const [component, spec] of Object.entries(components)) {
    const reach = reachOf(component, spec, files);
    if (reach !== null && !access.allowed.includes(reach.hash)) throw notAllowed(component);
  }
}

/** A process that was given no consent; whoever starts it has asked for it before, in words. */
export function notAllowed(component: string): BraidError {
  return new BraidError(
    'REWARD_NOT_ALLOWED',
    `The component "${component}" of the reward reaches outside Braid, and nobody has agreed to that`,
    { kind: 'input', remedy: "See what it does on the task's screen, and agree to it there." },
  );
}

/** What programs and the thread that asks them need of the environment, and nothing that could hold a service's key. */
export function passedEnvironment(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TMPDIR',
    'TEMP',
    'TMP',
    'USERPROFILE',
    'SYSTEMROOT',
    'SystemRoot',
    'PATHEXT',
    'APPDATA',
    'LOCALAPPDATA',
    ...PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]),
  ];
  const passed = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  // A Python program that forgets to flush its lines would never answer; on Windows it reads them in another encoding.
  const around = notByProxy();
  return Object.fromEntries([
    ...passed,
    ['no_proxy', around],
    ['NO_PROXY', around],
    ['PYTHONUNBUFFERED', '1'],
    ['PYTHONUTF8', '1'],
  ]);
}

/** What is sent to this machine stays on it: plain http is allowed here because nobody can read it on the way. */
function notByProxy(): string {
  const own = process.env.no_proxy || process.env.NO_PROXY || '';
  return own.trim() === '*' ? '*' : [own, 'localhost', '127.0.0.0-127.255.255.255', '[::1]', '::1'].join(',');
}

function untilReply(thread: Thread, silenceMs: number): ExternalReply | null {
  for (;;) {
    const reply = thread.next(silenceMs);
    if (reply?.kind !== 'alive') return reply;
  }
}

function dead(fault: string | null): BraidError {
  return new BraidError('REWARD_THREAD', `${THREAD} ended${fault === null ? '' : `: ${fault}`}`, {
    remedy: `${(fault !== null && startRemedy(fault)) || 'Close other programs and try again.'} Checkpoints up to the last one are safe.`,
  });
}
