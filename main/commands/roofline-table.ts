/** A roofline as text. */
import type { Roofline } from '../services/training/roofline.ts';
import { counted } from '../text/format.ts';
import { tableLines } from './table.ts';

/** Ops that are shown one by one; the others are summed up. */
const SHOWN = 24;

/** The peaks, a table of phases and a table of ops; times in milliseconds per step. */
export function rooflineLines({ peak_gflops, peak_gb_per_s, step_seconds, phases, ops }: Roofline): string[] {
  const rest = ops.slice(SHOWN);
  const restSeconds = rest.reduce((total, { seconds }) => total + seconds, 0);
  return [
    `Best measured here: ${peak_gflops.toFixed(1)} GFLOPS in a large product, ${peak_gb_per_s.toFixed(1)} GB/s of memory.`,
    `A step took ${ms(step_seconds)} ms while it was measured.`,
    '',
    ...tableLines(
      ['phase', 'ms', 'in kernels', 'outside', '% of peak', 'threads'],
      phases.map((phase) => [
        ...[phase.phase, ms(phase.seconds), ms(phase.kernel_seconds), ms(phase.outside_seconds)],
        ...[percent(phase.share_of_peak), busy(phase.threads_busy)],
      ]),
    ),
    '',
    ...tableLines(
      ['op', 'phase', 'calls', 'ms', 'MFLOP', 'MB', 'GFLOPS', 'GB/s', '% of peak', 'threads'],
      ops
        .slice(0, SHOWN)
        .map((op) => [
          ...[op.sizes === '' ? op.op : `${op.op} ${op.sizes}`, op.phase, op.calls.toFixed(0), ms(op.seconds)],
          ...[(op.flop / 1e6).toFixed(0), (op.bytes / 1e6).toFixed(1), op.gflops.toFixed(1), op.gb_per_s.toFixed(1)],
          ...[percent(op.share_of_peak), busy(op.threads_busy)],
        ]),
    ),
    ...(rest.length === 0
      ? []
      : [`${counted(rest.length, 'more row takes', 'more rows take')} ${ms(restSeconds)} ms; --json has all.`]),
  ];
}

function ms(seconds: number): string {
  return (1000 * seconds).toFixed(1);
}

function percent(share: number): string {
  return Number.isFinite(share) ? (100 * share).toFixed(0) : '–';
}

function busy(threads: number): string {
  return Number.isFinite(threads) ? threads.toFixed(1) : '–';
}
