/** Records what each op of the timed steps takes, and what the machine can do at best: the inputs of a roofline. */
import * as tf from '@tensorflow/tfjs-core';
import { type KernelCall, profileKernels } from '../../tensor/kernel-profile.ts';
import { sizesOf, workOf } from '../../tensor/op-costs.ts';
import { gatherRows } from '../../tensor/ops/rows.ts';
import type { Phases } from '../monitor/phases.ts';

/** All calls of an op in a phase, over the timed steps. */
export interface OpTotal {
  readonly phase: string;
  readonly op: string;
  /** Of a product: "in → out"; otherwise empty. */
  readonly sizes: string;
  calls: number;
  seconds: number;
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

/** The fastest that was measured on this backend with these threads. */
export interface Peaks {
  /** FLOP per second of a large product. */
  readonly product: number;
  /** Bytes read and written per second by a copy of far more than the caches hold. */
  readonly copy: number;
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

/** Records calls by the phase that they run in, from `start` to `stop`. */
export function openRecorder(phases: Phases): Recorder {
  let running = 'between phases';
  let end: (() => void) | null = null;
  const ops = new Map<string, OpTotal>();
  const times = new Map<string, { seconds: number; cpuSeconds: number }>();
  const onCall = (call: KernelCall): void => {
    const { name: op, seconds, cpuSeconds } = call;
    const sizes = sizesOf(call);
    const key = `${running}\n${op}\n${sizes}`;
    const empty = { phase: running, op, sizes, calls: 0, seconds: 0, cpuSeconds: 0, flop: 0, bytes: 0 };
    const total = ops.get(key) ?? empty;
    const { flop, bytes } = workOf(call);
    total.calls++;
    total.seconds += seconds;
    total.cpuSeconds += cpuSeconds;
    total.flop += flop;
    total.bytes += bytes;
    ops.set(key, total);
  };
  const within = <T>(phase: string, work: () => T): T => {
    const outer = running;
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const leave = (): void => {
      running = outer;
      if (end === null) return;
      const { user, system } = process.cpuUsage(cpu);
      const total = times.get(phase) ?? { seconds: 0, cpuSeconds: 0 };
      total.seconds += (performance.now() - began) / 1000;
      total.cpuSeconds += (user + system) / 1e6;
      times.set(phase, total);
    };
    running = phase;
    const result = work();
    if (result instanceof Promise) return result.finally(leave) as typeof result;
    leave();
    return result;
  };
  return {
    phases: { time: (phase, work) => phases.time(phase, () => within(phase, work)), take: () => phases.take() },
    start: () => {
      end = profileKernels(onCall);
    },
    stop: () => {
      end?.();
      end = null;
      return { ops: [...ops.values()], phases: [...times].map(([phase, total]) => ({ phase, ...total })) };
    },
  };
}

const PRODUCT_SIZE = 768;
const COPY_ROWS = 32_768;
const COPY_WIDTH = 512;
const PEAK_MS = 1000;

/** Measures the peaks on the current backend: the best of a second each. */
export function measurePeaks(): Peaks {
  return tf.tidy(() => {
    const [a, b] = [0, 1].map((seed) => tf.randomUniform([PRODUCT_SIZE, PRODUCT_SIZE], -1, 1, 'float32', seed)) as [
      tf.Tensor2D,
      tf.Tensor2D,
    ];
    const product = fastest(() => tf.matMul(a, b, false, true));
    const x = tf.ones<tf.Rank.R2>([COPY_ROWS, COPY_WIDTH]);
    const rows = tf.range(0, COPY_ROWS, 1, 'int32');
    // tfjs's own kernels run on one thread, ours on all: the faster one is the machine's.
    const copy = Math.min(
      fastest(() => gatherRows(x, rows)),
      fastest(() => tf.neg(x)),
    );
    return { product: (2 * PRODUCT_SIZE ** 3) / product, copy: (2 * 4 * COPY_ROWS * COPY_WIDTH) / copy };
  });
}

/** Seconds of the fastest run. */
function fastest(work: () => tf.Tensor): number {
  const end = performance.now() + PEAK_MS;
  let best = Number.POSITIVE_INFINITY;
  while (performance.now() < end) {
    const began = performance.now();
    work().dispose();
    best = Math.min(best, (performance.now() - began) / 1000);
  }
  return best;
}
