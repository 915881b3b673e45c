/** V8's garbage collector, which programs can't call without a flag. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Collect {
  (): void;
  (options: { readonly type: 'minor' }): void;
  (options: { readonly type: 'major'; readonly execution: 'async' }): Promise<void>;
}

/** `gc()` of a context that was made with the flag set: our own code doesn't get to see it. */
export function v8Collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
