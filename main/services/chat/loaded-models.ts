/**
 * The models that chats keep in memory, each in a process of its own: until it has been idle for a while, another one
 * needs the memory, or a run starts. Models that don't fit side by side are loaded one after another.
 */

import { interrupted } from '../trainer-process/job.ts';

/** A model in memory. */
export interface Loaded<M> {
  readonly model: M;
  /** Ends its process; resolves once that has gone. */
  stop(): Promise<void>;
  /** Resolves when the process has gone, also by itself. */
  readonly gone: Promise<unknown>;
}

export interface ModelNeed<M> {
  /** Which model, whatever it is loaded for. */
  readonly model: string;
  /** The same with how it is loaded: one that is loaded otherwise is of no use. */
  readonly key: string;
  /** For display. */
  readonly name: string;
  /** What it will take. */
  readonly bytes: number;
  /** What is free of the memory that it will take. */
  readonly freeBytes: () => number;
  /** The signal aborts once nobody waits for it any more. */
  readonly load: (signal: AbortSignal) => Promise<Loaded<M>>;
}

export interface Use {
  readonly signal: AbortSignal;
  /** Called while others have the memory, with their names. */
  readonly onWait: (names: readonly string[]) => void;
  /** Called when it isn't loaded yet, before it is. */
  readonly onLoad: () => void;
}

export interface LoadedModels<M> {
  /** Works with the model, loading it where it isn't; it stays loaded. */
  use<T>(need: ModelNeed<M>, use: Use, work: (model: M) => Promise<T>): Promise<T>;
  /** Ends those that nobody works with, and the others once they have ended their work. */
  release(): Promise<void>;
  /** Ends all of them at once. */
  close(): Promise<void>;
}

interface Entry<M> {
  readonly need: ModelNeed<M>;
  readonly loaded: Promise<Loaded<M>>;
  /** Null once it is loaded. */
  loading: AbortController | null;
  /** The system doesn't count its memory as used yet. */
  promised: number;
  users: number;
  /** Whether it ends with its last user. */
  isLeaving: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** `idleMs`: how long a model stays that nobody works with. */
export function openLoadedModels<M>(idleMs: () => number): LoadedModels<M> {
  const entries = new Map<string, Entry<M>>();
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const all = waiting;
    waiting = [];
    for (const next of all) next();
  };
  const changed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });

  const forget = (entry: Entry<M>): void => {
    clearTimeout(entry.timer);
    if (entries.get(entry.need.key) === entry) entries.delete(entry.need.key);
    wake();
  };
  const end = async (entry: Entry<M>): Promise<void> => {
    clearTimeout(entry.timer);
    entry.isLeaving = true;
    entry.loading?.abort();
    await entry.loaded.then(
      ({ stop }) => stop(),
      () => undefined,
    );
    forget(entry);
  };
  const start = (need: ModelNeed<M>): Entry<M> => {
    const loading = new AbortController();
    const loaded = need.load(loading.signal);
    const entry: Entry<M> = {
      need,
      loaded,
      loading,
      promised: need.bytes,
      users: 0,
      isLeaving: false,
      timer: undefined,
    };
    entries.set(need.key, entry);
    loaded.then(
      ({ gone }) => {
        entry.promised = 0;
        entry.loading = null;
        wake();
        void gone.then(() => forget(entry));
      },
      () => forget(entry),
    );
    return entry;
  };
  const hasRoom = ({ bytes, freeBytes }: ModelNeed<M>): boolean => {
    const promised = [...entries.values()].reduce((sum, entry) => sum + entry.promised, 0);
    return entries.size === 0 || bytes + promised <= freeBytes();
  };

  const idleOnes = (): Entry<M>[] => [...entries.values()].filter(({ users, isLeaving }) => users === 0 && !isLeaving);
  /** Entries are in the order of their last use. */
  const hold = (entry: Entry<M>): Entry<M> => {
    clearTimeout(entry.timer);
    entry.users++;
    entries.delete(entry.need.key);
    entries.set(entry.need.key, entry);
    return entry;
  };

  /** The entry of a model, loaded or loading, in use from now on; undefined: cancelled. */
  async function enter(need: ModelNeed<M>, { signal, onWait, onLoad }: Use): Promise<Entry<M> | undefined> {
    while (!signal.aborted) {
      const known = entries.get(need.key);
      if (known?.isLeaving === false) return hold(known);
      if (known !== undefined) {
        await changed(signal);
        continue;
      }
      const useless = idleOnes().find((entry) => entry.need.model === need.model);
      if (useless !== undefined) {
        await end(useless);
        continue;
      }
      if (hasRoom(need)) {
        onLoad();
        return hold(start(need));
      }
      // The one that has been idle for longest.
      const [idle] = idleOnes();
      if (idle !== undefined) {
        await end(idle);
        continue;
      }
      onWait([...entries.values()].map((entry) => entry.need.name));
      await changed(signal);
    }
    return undefined;
  }

  const leave = (entry: Entry<M>): void => {
    entry.users--;
    if (entry.users > 0 || entries.get(entry.need.key) !== entry) return;
    if (entry.isLeaving || entry.loading !== null) void end(entry);
    else entry.timer = setTimeout(() => void end(entry), idleMs()).unref();
    wake();
  };

  return {
    use: async (need, use, work) => {
      const entry = await enter(need, use);
      if (entry === undefined) throw interrupted();
      try {
        const { model } = await Promise.race([entry.loaded, onAbort(use.signal)]);
        return await work(model);
      } finally {
        leave(entry);
      }
    },
    release: async () => {
      for (const entry of entries.values()) entry.isLeaving = true;
      await Promise.all([...entries.values()].filter(({ users }) => users === 0).map(end));
    },
    close: async () => {
      await Promise.all([...entries.values()].map(end));
    },
  };
}

/** Fails once the signal aborts. */
function onAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(interrupted());
    signal.addEventListener('abort', () => reject(interrupted()), { once: true });
  });
}
