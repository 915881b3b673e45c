/** Keeps the line to the host: reopened when lost, with calls that fail in words instead of hanging. */
import { type Line, openLine, TurnedAway } from './line.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly line: Line; readonly epoch: number }
  | { readonly kind: 'lost'; readonly attempts: number }
  | { readonly kind: 'turned-away' };

const RETRY_MS = [300, 600, 1000, 2000, 3000];

let state: ConnectionState = { kind: 'connecting' };
let epoch = 0;
const listeners = new Set<() => void>();

/** For useSyncExternalStore. */
export const connection = {
  get: (): ConnectionState => state,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Opens the line and keeps it open for as long as the page lives. */
export async function keepConnected(open: () => Promise<Line> = openLine): Promise<void> {
  for (let attempts = 0; ; ) {
    try {
      const line = await open();
      attempts = 0;
      set({ kind: 'open', line, epoch: ++epoch });
      await line.lost;
    } catch (error) {
      if (error instanceof TurnedAway) return set({ kind: 'turned-away' });
    }
    attempts++;
    set({ kind: 'lost', attempts });
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1]));
  }
}

/** The open line; waits a while for one that is being reopened. */
export function currentLine(timeoutMs = 10_000): Promise<Line> {
  if (state.kind === 'open') return Promise.resolve(state.line);
  return new Promise((resolve, reject) => {
    const give = setTimeout(() => {
      stop();
      reject(new Error('The app does not answer. What it has stored is safe; this page goes on when it is back.'));
    }, timeoutMs);
    const stop = connection.subscribe(() => {
      if (state.kind !== 'open') return;
      clearTimeout(give);
      stop();
      resolve(state.line);
    });
  });
}

function set(next: ConnectionState): void {
  state = next;
  for (const listener of listeners) listener();
}
