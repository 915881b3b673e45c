/** Time of a process's work, without that in which the process or its machine is stopped: suspended, frozen, a VM saved. */

/** Work gives signs of life every few seconds; a longer gap in which the processors hardly ran is a stop. */
const STOP_MS = 30_000;
const BUSY_SHARE = 0.1;
/** Signs of life may come with every token. */
const LEAST_GAP_MS = 200;
/** Between two looks where the process waits for a server. */
const IDLE_LOOK_MS = 5000;

export interface WorkTime {
  /** Milliseconds of work so far. */
  now(): number;
  /** A sign of life. */
  beat(): void;
  close(): void;
}

/** Starts to count; `clock` and `used` (of the processors) in milliseconds. */
export function openWorkTime(clock = () => performance.now(), used = processorTime): WorkTime {
  let seen = { at: clock(), used: used() };
  let stopped = 0;
  const beat = (): void => {
    const at = clock();
    const gap = at - seen.at;
    if (gap < LEAST_GAP_MS) return;
    const before = seen.used;
    seen = { at, used: used() };
    if (gap > STOP_MS && seen.used - before < BUSY_SHARE * gap) stopped += gap;
  };
  const looking = setInterval(beat, IDLE_LOOK_MS);
  looking.unref();
  return {
    now: () => {
      beat();
      return clock() - stopped;
    },
    beat,
    close: () => clearInterval(looking),
  };
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
