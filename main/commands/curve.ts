/** A curve that grows in the terminal while a run trains: one reward a step, with the progress line below it. */
import { type ProgressOptions, progressLine } from './progress.ts';
import { clipped } from './terminal-text.ts';

export interface Curve {
  /** The value after `step`, and a few words beside the bar. */
  update(step: number, value: number, note?: string): void;
  /** Wipes the curve, so that lines can be printed; the next update draws it again. */
  hide(): void;
  /** Leaves the finished curve on the screen. */
  end(): void;
}

export interface CurveLook {
  readonly rows?: number;
  readonly colour?: boolean;
}

const ROWS = 8;
const MAX_COLUMNS = 72;
const REDRAW_MS = 100;
const CYAN = '\x1b[36m';
const PLAIN = '\x1b[39m';
/** Dots of a braille character by place: two columns, four rows from the top. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Opens a curve on stderr; on anything but a terminal, or when told to be quiet, it does nothing. */
export function openCurve(options: ProgressOptions, quiet = false): Curve {
  const stream = options.stream ?? process.stderr;
  if (quiet || !stream.isTTY) return { update: () => undefined, hide: () => undefined, end: () => undefined };
  const now = options.now ?? performance.now.bind(performance);
  const began = now();
  const values: number[] = [];
  let drawn = Number.NEGATIVE_INFINITY;
  let shown = 0;
  let last: readonly string[] = [];
  const hide = (): void => {
    if (shown > 0) stream.write(`\r${shown > 1 ? `\x1b[${shown - 1}A` : ''}\x1b[J`);
    shown = 0;
  };
  const draw = (): void => {
    hide();
    stream.write(last.join('\n'));
    shown = last.length;
    drawn = now();
  };
  return {
    update: (step, value, note = '') => {
      values.push(value);
      const width = (stream.columns ?? 80) - 1;
      const line = clipped(progressLine(options, step, (now() - began) / 1000, note), width);
      last = [...drawCurve(values, options.total, Math.min(width, MAX_COLUMNS)), line];
      if (now() - drawn >= REDRAW_MS) draw();
    },
    hide,
    end: () => {
      if (last.length === 0) return;
      draw();
      stream.write('\n');
      [shown, last] = [0, []];
    },
  };
}

/**
 * Lines of a plot of the values so far, `total` of them across the whole width. The top is 1, or above it the largest
 * value; the bottom is the tenth below the least.
 */
export function drawCurve(values: readonly number[], total: number, width: number, look: CurveLook = {}): string[] {
  const { rows = ROWS, colour = true } = look;
  const finite = values.filter(Number.isFinite);
  // A long run has more steps than a call may have arguments.
  const top = finite.reduce((most, value) => Math.max(most, value), 1);
  const least = finite.reduce((lowest, value) => Math.min(lowest, value), top);
  const bottom = Math.min(0.9, Math.floor(least * 10) / 10);
  const labels = (row: number): string => (row === 0 ? top : row === rows - 1 ? bottom : null)?.toFixed(1) ?? '';
  const margin = Math.max(labels(0).length, labels(rows - 1).length);
  const columns = Math.max(1, width - margin - 2);
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  const dotsAcross = 2 * columns;
  const dotsDown = 4 * rows;
  const heightOf = (value: number): number => Math.round(((top - value) / (top - bottom)) * (dotsDown - 1));
  let before: number | null = null;
  for (let x = 0; x < dotsAcross; x++) {
    const value = values[Math.floor((x * Math.max(total, values.length)) / dotsAcross)];
    if (value === undefined) break;
    if (!Number.isFinite(value)) continue;
    const y = heightOf(value);
    // A step up or down is a line, not a gap.
    const [from, to] = before === null ? [y, y] : [Math.min(y, before), Math.max(y, before)];
    for (let dot = from; dot <= to; dot++) {
      const row = cells[dot >> 2] as Uint8Array;
      row[x >> 1] = (row[x >> 1] ?? 0) | (DOTS[(x & 1) as 0 | 1][(dot & 3) as 0 | 1 | 2 | 3] ?? 0);
    }
    before = y;
  }
  return cells.map((row, r) => {
    const plot = [...row].map((dots) => (dots === 0 ? ' ' : String.fromCodePoint(0x2800 + dots))).join('');
    const line = plot.trimEnd();
    return `${labels(r).padStart(margin)} ┤${colour ? `${CYAN}${line}${PLAIN}` : line}`;
  });
}
