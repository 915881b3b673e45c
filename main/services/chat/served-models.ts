/** The models that the app answers with at addresses of their own, until they are stopped. */
import { BraidError } from '../../errors.ts';
import { type ModelPlaces, requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';
import type { StreamPlace } from '../playground/stream.ts';
import type { KeptModel } from '../serving/kept-model.ts';
import { openAddress } from '../serving/openai/server.ts';
import type { Changes } from '../workspace/changes.ts';
import { needOf, waitsFor } from './ask.ts';
import type { LoadedModels } from './loaded-models.ts';

export type ServedState =
  | { readonly kind: 'waiting'; readonly why: string }
  | { readonly kind: 'ready'; readonly address: string; readonly key: string; readonly context: number }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | null };

export interface ServedModel {
  /** As in the list of models. */
  readonly ref: string;
  /** What requests call it. */
  readonly name: string;
  readonly state: ServedState;
}

export interface ServedModels {
  /** The one that was served first comes first. */
  list(): readonly ServedModel[];
  /** Begins to serve a model; one that is served stays as it is. Invalid input throws. */
  start(app: ServedPlace, ref: string): void;
  /** Ends what is being answered, and forgets a failure. */
  stop(ref: string): Promise<void>;
  close(): Promise<void>;
}

export type ServedPlace = ModelPlaces & StreamPlace & { readonly chatModels: LoadedModels<KeptModel> };

interface Served {
  model: ServedModel;
  readonly ending: AbortController;
  ended: Promise<void>;
}

export function openServedModels(changes: Pick<Changes, 'publish'>): ServedModels {
  const all = new Map<string, Served>();

  function start(app: ServedPlace, ref: string): void {
    const before = all.get(ref);
    if (before !== undefined && before.model.state.kind !== 'failed') return;
    const { name: shown, folder } = requireModel(app, ref);
    const name = requestName(shown);
    const need = needOf(app, { name, model: resolveModelParts(folder, app.paths), beside: [], threads: 0 });
    const ending = new AbortController();
    const { signal } = ending;
    const state: ServedState = { kind: 'waiting', why: 'Loading the model …' };
    const served: Served = { model: { ref, name, state }, ending, ended: Promise.resolve() };
    const set = (next: ServedState): void => {
      served.model = { ...served.model, state: next };
      changes.publish('served');
    };
    all.set(ref, served);
    set(state);
    const use = {
      signal,
      onLoad: () => set(state),
      onWait: (names: readonly string[]) => set({ kind: 'waiting', why: waitsFor(names) }),
    };
    const gone = app.chatModels.use(need, use, (kept) => serve(kept, name, signal, set));
    served.ended = gone.catch((error: unknown) => {
      if (signal.aborted) return;
      const { message } = error instanceof Error ? error : { message: String(error) };
      set({ kind: 'failed', message, remedy: error instanceof BraidError ? (error.remedy ?? null) : null });
    });
  }

  async function stop(ref: string): Promise<void> {
    const served = all.get(ref);
    if (served === undefined) return;
    served.ending.abort();
    await served.ended;
    all.delete(ref);
    changes.publish('served');
  }

  return {
    list: () => [...all.values()].map(({ model }) => model),
    start,
    stop,
    close: async () => {
      await Promise.all([...all.keys()].map(stop));
    },
  };
}

/** A name that can be typed in a request: run-0001-grpo-step-20. */
function requestName(shown: string): string {
  return shown.replace(/[^\p{L}\p{N}._-]+/gu, '-');
}

/** Keeps the address open until the signal aborts, or the process has gone, which throws. */
async function serve(
  kept: KeptModel,
  name: string,
  signal: AbortSignal,
  set: (state: ServedState) => void,
): Promise<void> {
  const { address, key, close } = await openAddress({ kept, name, port: 0 });
  try {
    set({ kind: 'ready', address, key, context: kept.context });
    const stopped = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
      if (signal.aborted) resolve(null);
    });
    const failure = await Promise.race([kept.ended, stopped]);
    if (failure !== null) throw failure;
  } finally {
    await close();
  }
}
