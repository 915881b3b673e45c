/**
 * While anything is waited for, Dawn asks its driver at every turn of the event loop, by the global `setImmediate`: a
 * whole core that says nothing but "not yet", and where the driver computes on the processor, one that it lacks.
 */

/** Most waits are shorter: they are answered without any delay. */
const EAGER_MS = 0.2;

/** A wait is made longer by at most this part. */
const DELAY = 1 / 32;

/** Work that arrives meanwhile is held up for no longer. */
const MOST_MS = 2;

export interface Clock {
  now(): number;
  /** Blocks this thread. */
  sleep(ms: number): void;
}

const never = new Int32Array(new SharedArrayBuffer(4));
const clock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(never, 0, 0, ms),
};

type Later = (callback: () => void) => unknown;

/** `later` for a caller that asks for the next turn again from within its callback until what it waits for is there. */
export function patient(later: Later, { now, sleep }: Clock = clock): Later {
  let since = 0;
  let asksAgain = false;
  return (callback) => {
    if (!asksAgain) since = now();
    return later(() => {
      const waited = now() - since;
      if (waited > EAGER_MS) sleep(Math.min(MOST_MS, DELAY * waited));
      asksAgain = true;
      try {
        callback();
      } finally {
        asksAgain = false;
      }
    });
  };
}
