/** Screens whose code is loaded when first needed, or earlier while the app is idle. */
import { type ComponentType, createElement, useEffect, useState } from 'react';
import { Loading } from '../components/Feedback.tsx';

/** A screen's code, once loaded. */
export interface ScreenCode<P> {
  loaded: ComponentType<P> | null;
  readonly fetch: () => Promise<void>;
}

/** Caches the component that `load` returns; a failed load can be retried. */
export function screenCode<P>(load: () => Promise<ComponentType<P>>): ScreenCode<P> {
  const code: ScreenCode<P> = {
    loaded: null,
    fetch: async () => {
      code.loaded ??= await load();
    },
  };
  return code;
}

/** Loads them one by one while idle, then calls `done`. */
export function prefetchWhenIdle([next, ...rest]: readonly Pick<ScreenCode<never>, 'fetch'>[], done: () => void): void {
  if (next === undefined) {
    done();
    return;
  }
  // A failure is shown when the screen is opened.
  const loadRest = (): void => prefetchWhenIdle(rest, done);
  requestIdleCallback(() => void next.fetch().then(loadRest, loadRest));
}

interface LazyScreenProps<P> {
  readonly code: ScreenCode<P>;
  readonly props: NoInfer<P>;
}

/** Not React.lazy: React delays a screen that has suspended by 300 ms, even if its code arrived at once. */
export function LazyScreen<P extends object>({ code, props }: LazyScreenProps<P>) {
  const [error, setError] = useState<unknown>(null);
  const [, showLoaded] = useState(false);
  const { loaded } = code;
  useEffect(() => {
    // Also if it arrived after this was rendered, while the app was idle.
    if (loaded === null) code.fetch().then(() => showLoaded(true), setError);
  }, [code, loaded]);
  if (error !== null) throw error;
  return loaded === null ? <Loading what="the screen" /> : createElement(loaded, props);
}
