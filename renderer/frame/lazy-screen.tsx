/** Screens whose code is fetched when it is first needed, or in an idle moment before that. */
import { type ComponentType, createElement, useEffect, useState } from 'react';
import { Loading } from '../components/Feedback.tsx';

/** The code of a screen, once it is here. */
export interface ScreenCode<P> {
  loaded: ComponentType<P> | null;
  readonly fetch: () => Promise<void>;
}

/** Remembers the component that `load` gives; a failure may be tried again. */
export function screenCode<P>(load: () => Promise<ComponentType<P>>): ScreenCode<P> {
  const code: ScreenCode<P> = {
    loaded: null,
    fetch: async () => {
      code.loaded ??= await load();
    },
  };
  return code;
}

/** Fetches them one by one while nothing else is to be done, and says when it has. */
export function prefetchWhenIdle([next, ...rest]: readonly Pick<ScreenCode<never>, 'fetch'>[], done: () => void): void {
  if (next === undefined) {
    done();
    return;
  }
  // Whoever opens the screen is told of a failure.
  const goOn = (): void => prefetchWhenIdle(rest, done);
  requestIdleCallback(() => void next.fetch().then(goOn, goOn));
}

interface LazyScreenProps<P> {
  readonly code: ScreenCode<P>;
  readonly props: NoInfer<P>;
}

/** Not React's lazy: a screen that has once suspended is held back for 300 ms, even when its code was there at once. */
export function LazyScreen<P extends object>({ code, props }: LazyScreenProps<P>) {
  const [error, setError] = useState<unknown>(null);
  const [, showLoaded] = useState(false);
  useEffect(() => {
    if (code.loaded === null) code.fetch().then(() => showLoaded(true), setError);
  }, [code]);
  if (error !== null) throw error;
  return code.loaded === null ? <Loading what="the screen" /> : createElement(code.loaded, props);
}
