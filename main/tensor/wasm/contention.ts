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

const thisThread: Clocks = {
  now: () => performance.now(),
  computed: () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
};

/**
 * Returns a question that a thread asks before each job of a sequence of short ones. The answer is of the stretch before:
 * true where the thread computed for much less than its time. Time spent waiting for anything else reads the same.
 */
export function watchContention({ now, computed }: Clocks = thisThread): () => boolean {
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
