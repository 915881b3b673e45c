/** Records what each op of the timed steps takes, and what the machine can do at best: the inputs of a roofline. */
import { type KernelCall, type KernelStart, profileKernels } from '../../tensor/kernel-profile.ts';
import { sizesOf, workOf } from '../../tensor/op-costs.ts';
import type { Gpu } from '../../tensor/webgpu/gpu.ts';
import type { ProgramTime } from '../../tensor/webgpu/program-times.ts';
import type { Phases } from '../monitor/phases.ts';
import type { Peaks } from './peaks.ts';

/** All calls of an op in a phase, over the timed steps. On a GPU, programs that run outside any op count as ops, too. */
export interface OpTotal {
  readonly phase: string;
  readonly op: string;
  /** Of a product: "in → out"; of a GPU's program: its workgroups; otherwise empty. */
  readonly sizes: string;
  calls: number;
  seconds: number;
  /** NaN for a GPU's work. */
  cpuSeconds: number;
  flop: number;
  bytes: number;
}

/** A phase of the timed steps. */
export interface PhaseTotal {
  readonly phase: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export interface RooflineResult {
  readonly peaks: Peaks;
  readonly ops: readonly OpTotal[];
  readonly phases: readonly PhaseTotal[];
}

export interface Recorder {
  /** These phases, with the time of each kept; what runs between them is nobody's. */
  readonly phases: Phases;
  start(): void;
  stop(): { readonly ops: readonly OpTotal[]; readonly phases: readonly PhaseTotal[] };
}

/**
 * Records calls by the phase that they run in, from `start` to `stop`. On a GPU that times its dispatches, ops take what
 * the GPU's clock says, and a phase ends when the GPU has done its work.
 */
export function openRecorder(phases: Phases, gpu: Gpu | null): Recorder {
  let running = 'between phases';
  let end: (() => void) | null = null;
  const ops = new Map<string, OpTotal>();
  const times = new Map<string, { seconds: number; cpuSeconds: number }>();
  const keyOf = (call: KernelStart): string => [running, call.name, sizesOf(call)].join('\n');
  const totalOf = (key: string): OpTotal => {
    const [phase = '', op = '', sizes = ''] = key.split('\n');
    const empty = { phase, op, sizes, calls: 0, seconds: 0, cpuSeconds: 0, flop: 0, bytes: 0 };
    const total = ops.get(key) ?? empty;
    ops.set(key, total);
    return total;
  };
  const onCall = (call: KernelCall): void => {
    const total = totalOf(keyOf(call));
    const { flop, bytes } = workOf(call);
    total.calls++;
    total.flop += flop;
    total.bytes += bytes;
    if (gpu === null) {
      total.seconds += call.seconds;
      total.cpuSeconds += call.cpuSeconds;
    } else gpu.label = running;
  };
  const onStart = (call: KernelStart): void => {
    if (gpu !== null) gpu.label = keyOf(call);
  };
  const enter = (phase: string): void => {
    gpu?.finish();
    running = phase;
    if (gpu !== null) gpu.label = phase;
  };
  const within = <T>(phase: string, work: () => T): T => {
    const outer = running;
    enter(phase);
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const leave = (): void => {
      enter(outer);
      if (end === null) return;
      const { user, system } = process.cpuUsage(cpu);
      const total = times.get(phase) ?? { seconds: 0, cpuSeconds: 0 };
      total.seconds += (performance.now() - began) / 1000;
      total.cpuSeconds += (user + system) / 1e6;
      times.set(phase, total);
    };
    const result = work();
    if (result instanceof Promise) return result.finally(leave) as typeof result;
    leave();
    return result;
  };
  return {
    phases: { ...phases, time: (phase, work) => phases.time(phase, () => within(phase, work)) },
    start: () => {
      gpu?.times();
      end = profileKernels(onCall, onStart);
    },
    stop: () => {
      end?.();
      end = null;
      const all = gpu === null ? [...ops.values()] : opsOnGpu(ops, gpu.times());
      return { ops: all, phases: [...times].map(([phase, total]) => ({ phase, ...total })) };
    },
  };
}

/** The ops with what the GPU's clock says of them, and the programs that ran outside of ops, labelled by their phase. */
export function opsOnGpu(ops: ReadonlyMap<string, OpTotal>, times: readonly ProgramTime[]): readonly OpTotal[] {
  const programs: OpTotal[] = [];
  const sums = new Map<string, { seconds: number; bytes: number }>();
  for (const { label, name, groups, dispatches, seconds, work, bytes } of times) {
    if (ops.has(label)) {
      const sum = sums.get(label) ?? { seconds: 0, bytes: 0 };
      sums.set(label, { seconds: sum.seconds + seconds, bytes: sum.bytes + bytes });
    } else {
      const row = { phase: label, op: name, sizes: `[${groups}]`, calls: dispatches, seconds };
      programs.push({ ...row, cpuSeconds: Number.NaN, flop: work, bytes });
    }
  }
  const timed = [...ops].flatMap(([key, op]) => {
    const sum = sums.get(key);
    // Packed weights have fewer bytes than their float32 numbers would, by which ops are counted.
    const measured = sum && { seconds: sum.seconds, cpuSeconds: Number.NaN, bytes: Math.min(op.bytes, sum.bytes) };
    return measured === undefined ? [] : [{ ...op, ...measured }];
  });
  return [...timed, ...programs];
}
