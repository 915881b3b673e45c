/** A step's time by phase, in seconds. */
export interface Phases {
  /** Runs and times one phase, to the end of its promise; phases with the same name add up. */
  time<T>(phase: string, work: () => T): T;
  /** `time/<phase>` of the step; resets. */
  take(): Readonly<Record<string, number>>;
  /** The clock that they are timed by, in milliseconds. */
  now(): number;
}

/** Opens the phases of a run or a trial; `onBegin` is called when one starts. */
export function openPhases(now: Phases['now'] = () => performance.now(), onBegin?: () => void): Phases {
  let seconds: Record<string, number> = {};
  return {
    now,
    time: (phase, work) => {
      onBegin?.();
      const start = now();
      const stop = (): void => {
        seconds[`time/${phase}`] = (seconds[`time/${phase}`] ?? 0) + (now() - start) / 1000;
      };
      const result = work();
      if (result instanceof Promise) return result.finally(stop) as typeof result;
      stop();
      return result;
    },
    take: () => {
      const taken = seconds;
      seconds = {};
      return taken;
    },
  };
}
