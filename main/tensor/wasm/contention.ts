/**
 * Whether other programs want the cores that the kernels run on.
 */

/** Milliseconds of work that one judgement is made from. */
const STRETCH = 100;
/** The part of its time that a thread gets at least where nobody else wants its core; it also waits for other threads. */
const UNDISTURBED = 0.8;

/** Clocks in milliseconds: one that moves on by itself, and one that moves only while the calling thread computes. */
export interface Clocks {
  readonly now: () => number;
  readonly computed: () => number;
}

/** Null on Node 22, which can't tell one thread's time from the process's. */
const thisThread: Clocks | null =
  typeof process.threadCpuUsage === 'function'
    ? {
        now: () => performance.now(),
        computed: () => {
          const { user, system } = process.threadCpuUsage();
          return (user + system) / 1000;
        },
      }
    : null;

/**
 * Returns a function to call before each short job. It reports whether the thread computed for much less than its time in
 * the last 100 ms or so, that is, whether others wanted its core; time spent waiting for anything else reads the same.
 * Without clocks the answer is yes.
 */
export function watchContention(clocks: Clocks | null = thisThread): () => boolean {
  if (clocks === null) return () => true;
  const { now, computed } = clocks;
  let [began, used] = [now(), computed()];
  let contended = false;
  return () => {
    const time = now();
    if (time - began < STRETCH) return contended;
    const total = computed();
    contended = total - used < UNDISTURBED * (time - began);
    [began, used] = [time, total];
    return contended;
  };
}
