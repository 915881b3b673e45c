/** Watches the servers that may be up while the app is open: what ended is reported, what nobody uses is ended. */
import type { Changes } from '../workspace/changes.ts';
import type { Notices } from '../workspace/notices.ts';
import { logFault } from '../workspace/stray-faults.ts';
import type { ServerStatus, Servers } from './servers.ts';

export interface WatchOptions {
  readonly changes: Pick<Changes, 'publish'>;
  readonly notices: Pick<Notices, 'add'>;
  readonly everyMs?: number;
}

const EVERY_MS = 10_000;

/** Starts watching, and says what is still up from before; the returned function ends it. */
export function watchServers(
  servers: Pick<Servers, 'list' | 'refresh'>,
  { changes, notices, everyMs = EVERY_MS }: WatchOptions,
): () => void {
  let isBusy = false;
  async function look(): Promise<void> {
    if (isBusy || !servers.list().some(({ mayBeUp }) => mayBeUp)) return;
    isBusy = true;
    try {
      const changed = await servers.refresh();
      for (const status of changed) report(status, notices);
      if (changed.length > 0) changes.publish('engines');
    } finally {
      isBusy = false;
    }
  }
  const quietly = (): Promise<void> =>
    look().catch((error: unknown) => logFault('Looking at the servers of engines', error));
  const timer = setInterval(() => void quietly(), everyMs).unref();
  const left = new Set(servers.list().flatMap(({ engine, mayBeUp }) => (mayBeUp ? [engine] : [])));
  // Some have ended by themselves meanwhile, and are reported as such.
  quietly()
    .then(() => {
      for (const status of servers.list()) if (left.has(status.engine) && status.mayBeUp) reportLeft(status, notices);
    })
    .catch((error: unknown) => logFault('Looking at the servers of engines', error));
  return () => clearInterval(timer);
}

function reportLeft({ engine, where }: ServerStatus, notices: Pick<Notices, 'add'>): void {
  notices.add({
    severity: 'warning',
    message: `The server of engine "${engine}" was left up: ${where}`,
    remedy: 'Stop it in Settings, Engines, when you no longer need it.',
    runId: null,
  });
}

function report({ engine, state, detail }: ServerStatus, notices: Pick<Notices, 'add'>): void {
  const message = `The server of engine "${engine}" ${WORDS[state]}. ${detail}`;
  const severity = SEVERITY[state];
  const remedy = state === 'failed' || state === 'gone' ? 'Its log is in Settings, Engines.' : null;
  notices.add({ severity, message, remedy, runId: null });
}

const WORDS: Readonly<Record<ServerStatus['state'], string>> = {
  starting: 'is starting',
  up: 'is up',
  failed: 'failed',
  stopped: 'has ended',
  gone: 'is gone',
  unknown: "can't be asked",
};

const SEVERITY = {
  starting: 'info',
  up: 'info',
  failed: 'error',
  stopped: 'info',
  gone: 'warning',
  unknown: 'warning',
} as const;
