/** A progress line on a terminal: a bar, the rate, the time left. Silent without a terminal. */
import { formatDuration, formatStepTime } from '../text/format.ts';
import { visible } from '../text/visible.ts';
import { clipped } from './terminal-text.ts';

export interface Progress {
  /** The number done, and a short note beside the bar. */
  update(done: number, note?: string): void;
  /** Clears the line. */
  end(): void;
}

export interface ProgressOptions {
  readonly label: string;
  readonly total: number;
  /** What is counted: "steps". */
  readonly unit: string;
  /** The count at the start. */
  readonly from?: number;
  readonly stream?: NodeJS.WriteStream;
  readonly now?: () => number;
}

const BAR_WIDTH = 24;
/** Work that finishes sooner shows no bar. */
const PATIENCE_MS = 2000;
const REDRAW_MS = 100;

/** Opens a progress line on stderr; without a terminal, or with --quiet, it does nothing. */
export function openProgress(options: ProgressOptions, quiet = false): Progress {
  const stream = options.stream ?? process.stderr;
  if (quiet || !stream.isTTY) return { update: () => undefined, end: () => undefined };
  const now = options.now ?? performance.now.bind(performance);
  const began = now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update: (done, note = '') => {
      const elapsed = now() - began;
      if (elapsed < PATIENCE_MS || now() - drawn < REDRAW_MS) return;
      drawn = now();
      const line = clipped(progressLine(options, done, elapsed / 1000, note), (stream.columns ?? 80) - 1);
      stream.write(`\r\x1b[K${line}`);
    },
    end: () => void (drawn > Number.NEGATIVE_INFINITY && stream.write('\r\x1b[K')),
  };
}

/** The text of the line: `training ███░░░  12/60 steps · 1.3 steps/s · 37 s left · reward 0.71`. */
export function progressLine(options: ProgressOptions, done: number, seconds: number, note: string): string {
  const { label, total, unit, from = 0 } = options;
  const filled = Math.round((BAR_WIDTH * Math.min(done, total)) / Math.max(total, 1));
  const rate = (done - from) / seconds;
  const parts = [`${label} ${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${done}/${total} ${unit}`];
  if (rate > 0) parts.push(formatRate(rate, unit), `${formatDuration((total - done) / rate)} left`);
  if (note !== '') parts.push(note);
  return visible(parts.join(' · '));
}

function formatRate(rate: number, unit: string): string {
  return rate >= 1 ? `${rate.toPrecision(2)} ${unit}/s` : `${formatStepTime(1 / rate)} each`;
}
