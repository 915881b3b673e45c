/** A step's time by phase, in seconds. */
export interface Phases {
  /** Runs and times one phase, to the end of its promise; phases with the same name add up. */
  time<T>(phase: string, work: () => T): T;
  /** `time/<phase>` of the step; resets. */
  take(): Readonly<Record<string, number>>;
}

/** Opens the clock; `onBegin` is called when a phase starts. */
export function openPhases(onBegin: () => void = () => undefined): Phases {
  let seconds: Record<string, number> = {};
  return {
    time: (phase, work) => {
      onBegin();
      const start = performance.now();
      const stop = (): void => {
        seconds[`time/${phase}`] = (seconds[`time/${phase}`] ?? 0) + (performance.now() - start) / 1000;
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
