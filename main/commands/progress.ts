/** A progress line on a terminal: a bar, the rate, the time left. Silent where nobody watches. */

export interface Progress {
  /** How far the work is, of `total`, and a few words beside the bar. */
  update(done: number, note?: string): void;
  /** Wipes the line. */
  end(): void;
}

export interface ProgressOptions {
  readonly label: string;
  readonly total: number;
  /** What is counted: "steps". */
  readonly unit: string;
  /** The count that this stretch of work begins at. */
  readonly from?: number;
  readonly stream?: NodeJS.WriteStream;
  readonly now?: () => number;
}

const BAR_WIDTH = 24;
/** Work that is over before this shows no bar. */
const PATIENCE_MS = 2000;
const REDRAW_MS = 100;

/** Opens a progress line on stderr; on anything but a terminal, or when told to be quiet, it does nothing. */
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
      stream.write(`\r\x1b[K${progressLine(options, done, elapsed / 1000, note).slice(0, (stream.columns ?? 80) - 1)}`);
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
  return parts.join(' · ');
}

function formatRate(rate: number, unit: string): string {
  return rate >= 1 ? `${rate.toPrecision(2)} ${unit}/s` : `${(1 / rate).toPrecision(2)} s each`;
}

/** Seconds as people say them: 42 s, 3 min 10 s, 2 h 5 min. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
