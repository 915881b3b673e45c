/** Timed dispatches, summed by what they were for. Pure. */

/** What is known of a dispatch when it is recorded. */
export interface Dispatched {
  /** What it is for, as the caller named it (`Gpu.label`). */
  readonly label: string;
  readonly name: string;
  /** Its workgroups, as "x × y × z". */
  readonly groups: string;
  /** Its operations, where they are many for its bytes. */
  readonly work: number;
  /** Of the buffers that it was given: what it reads and writes at most. */
  readonly bytes: number;
}

/** What the dispatches of a program with so many workgroups took on the GPU, for one purpose. */
export interface ProgramTime extends Dispatched {
  readonly dispatches: number;
  readonly seconds: number;
}

/** Sums dispatches by label, program and workgroups, the longest first; `seconds` are theirs, in the same order. */
export function sumProgramTimes(dispatched: readonly Dispatched[], seconds: Float64Array): readonly ProgramTime[] {
  if (dispatched.length !== seconds.length)
    throw new Error(`Expected the times of ${dispatched.length} dispatches, got ${seconds.length}`);
  const sums = new Map<string, ProgramTime>();
  for (const [i, dispatch] of dispatched.entries()) {
    const key = [dispatch.label, dispatch.name, dispatch.groups].join('\n');
    const sum = sums.get(key) ?? { ...dispatch, work: 0, bytes: 0, dispatches: 0, seconds: 0 };
    sums.set(key, {
      ...sum,
      work: sum.work + dispatch.work,
      bytes: sum.bytes + dispatch.bytes,
      dispatches: sum.dispatches + 1,
      seconds: sum.seconds + (seconds[i] as number),
    });
  }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}
