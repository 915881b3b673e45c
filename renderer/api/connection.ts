/**
 * Keeps the connection to the host: reconnects when it is lost, and rejects calls with a message instead of hanging.
 */
import { observable } from '../components/observable.ts';
import { openTransport, SessionExpired, type Transport } from './transport.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly transport: Transport; readonly epoch: number }
  | { readonly kind: 'lost' | 'expired' };

const RETRY_MS = [300, 600, 1000, 2000, 3000];

const { get, set, subscribe } = observable<ConnectionState>({ kind: 'connecting' });
let epoch = 0;
/** Opened elsewhere, to be used instead of the next attempt. */
let offered: Transport | null = null;
let wake = (): void => undefined;

/** For useSyncExternalStore. */
export const connection = { get, subscribe };

/** Connects, and reconnects for as long as the page is open. */
export async function keepConnected(open: () => Promise<Transport> = openTransport): Promise<void> {
  for (let attempts = 0; ; ) {
    try {
      const transport = offered ?? (await open());
      offered = null;
      attempts = 0;
      set({ kind: 'open', transport, epoch: ++epoch });
      await transport.lost;
      set({ kind: 'lost' });
    } catch (error) {
      // The page stays, with what was typed: an expired session may become valid again.
      set({ kind: error instanceof SessionExpired ? 'expired' : 'lost' });
    }
    attempts++;
    if (offered === null) await pause(RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? 0);
  }
}

/** Reconnects by a connection that is open already. */
export function reconnectBy(transport: Transport): void {
  offered = transport;
  wake();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, ms);
  });
}

/** How long a call waits for it. */
const TIMEOUT_MS = 10_000;

/** The open connection; waits a moment while it is being reopened. */
export function currentTransport(): Promise<Transport> {
  const state = get();
  if (state.kind === 'open') return Promise.resolve(state.transport);
  if (state.kind === 'expired')
    return Promise.reject(new Error('The session of this page has expired. Reconnect first.'));
  return new Promise((resolve, reject) => {
    const give = setTimeout(() => {
      stop();
      reject(
        new Error('The app is not responding. Saved work is safe. This page reconnects as soon as the app is back.'),
      );
    }, TIMEOUT_MS);
    const stop = subscribe(() => {
      const now = get();
      if (now.kind !== 'open') return;
      clearTimeout(give);
      stop();
      resolve(now.transport);
    });
  });
}
