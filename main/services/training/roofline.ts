/** A roofline: each op of a step beside the least time that the machine's peaks allow for its work. Pure. */
import type { StepTime } from '../../trainer/jobs/bench.ts';
import type { OpTotal, RooflineResult } from '../../trainer/jobs/roofline.ts';

/** An op of a phase, per step. */
export interface RooflineOp extends Readonly<Omit<OpTotal, 'cpuSeconds'>> {
  readonly gflops: number;
  readonly gb_per_s: number;
  /** Least time by the peaks / time taken. Above 1 where the data is in a cache. */
  readonly share_of_peak: number;
  /** NaN, which is null in JSON, for a GPU's work. */
  readonly threads_busy: number;
}

/** A phase, per step. */
export interface RooflinePhase {
  readonly phase: string;
  readonly seconds: number;
  /** Seconds in kernels, and outside of them: JavaScript, the tape, allocation, waiting for the pool. */
  readonly kernel_seconds: number;
  readonly outside_seconds: number;
  /** Least time of the kernels' work by the peaks / the phase's seconds. */
  readonly share_of_peak: number;
  readonly threads_busy: number;
}

/** Field names as in `--json`. Seconds, FLOP and bytes are means per timed step. */
export interface Roofline {
  readonly peak_gflops: number;
  readonly peak_gb_per_s: number;
  readonly step_seconds: number;
  readonly phases: readonly RooflinePhase[];
  /** The ones that take longest first. */
  readonly ops: readonly RooflineOp[];
}

const OTHER = 'between phases';

/** The roofline of timed steps. */
export function rooflineOf({ peaks, ops, phases }: RooflineResult, times: readonly StepTime[]): Roofline {
  const steps = Math.max(times.length, 1);
  const least = ({ flop, bytes }: OpTotal): number => Math.max(flop / peaks.product, bytes / peaks.copy);
  const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
    items.reduce((total, item) => total + value(item), 0);
  const total = sum(times, ({ seconds }) => seconds);
  const inPhases = sum(phases, ({ seconds }) => seconds);
  const cpu = sum(times, ({ cpuSeconds }) => cpuSeconds) - sum(phases, ({ cpuSeconds }) => cpuSeconds);
  const rest = { phase: OTHER, seconds: Math.max(total - inPhases, 0), cpuSeconds: Math.max(cpu, 0) };
  return {
    peak_gflops: peaks.product / 1e9,
    peak_gb_per_s: peaks.copy / 1e9,
    step_seconds: total / steps,
    phases: [...phases, rest].map(({ phase, seconds, cpuSeconds }) => {
      const own = ops.filter((op) => op.phase === phase);
      const kernels = sum(own, (op) => op.seconds);
      return {
        phase,
        seconds: seconds / steps,
        kernel_seconds: kernels / steps,
        outside_seconds: Math.max(seconds - kernels, 0) / steps,
        share_of_peak: sum(own, least) / seconds,
        threads_busy: cpuSeconds / seconds,
      };
    }),
    ops: ops
      .toSorted((a, b) => b.seconds - a.seconds)
      .map((op) => ({
        phase: op.phase,
        op: op.op,
        sizes: op.sizes,
        calls: op.calls / steps,
        seconds: op.seconds / steps,
        flop: op.flop / steps,
        bytes: op.bytes / steps,
        gflops: op.flop / op.seconds / 1e9,
        gb_per_s: op.bytes / op.seconds / 1e9,
        share_of_peak: least(op) / op.seconds,
        threads_busy: op.cpuSeconds / op.seconds,
      })),
  };
}
