/** Formats numbers, sizes and times for display. Pure. */

import { hostNow } from './host-time.ts';

// Created once: constructing a formatter takes longer than rendering a table row.
const whole = new Intl.NumberFormat('en');
// In the language, calendar and digits of the page; with the zone, as an hour comes twice when clocks go back.
const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

/** A score with three decimals: `0.980`; a dash if there is none. */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(3);
}

/** Three significant digits, without exponents between 0.001 and a million; whole numbers in full. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (Number.isSafeInteger(value)) return whole.format(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(2);
  if (size >= 1000) return whole.format(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** A difference with its sign, plus where it rounds to 0: `+0.120`; `format` writes its size; a dash if there is none. */
export function signed(value: number | null | undefined, format: (size: number) => string = score): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = format(Math.abs(value));
  return `${value < 0 && size !== format(0) ? '−' : '+'}${size}`;
}

/** A count with its noun: `1 step`, `1,200 steps`; `plural` for a noun that takes more than an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : plural}`;
}

/** A large count in short: `590 k`, `135 M`, `7.62 B`. */
export function compact(count: number | null): string {
  if (count === null) return '–';
  if (count >= 1e9) return `${(count / 1e9).toPrecision(3)} B`;
  return count >= 1e6 ? `${(count / 1e6).toPrecision(3)} M` : `${Math.round(count / 1e3)} k`;
}

/** Money: `$12.40`; two digits of what is below a cent: `$0.0064`. */
export function money(amount: number, currency: string): string {
  return `${currency}${amount > 0 && amount < 0.00995 ? Number(amount.toPrecision(2)) : amount.toFixed(2)}`;
}

/** What trains: `native, 4 threads`; the name alone where nothing is computed here, as on an engine. */
export function backendText(name: string, threads: number | null): string {
  if (threads === null || threads === 0) return name;
  return `${name}, ${counted(threads, 'thread')}`;
}

/** A duration: `48 s`, `11 min`, `2 h 05 min`. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 10) return `${seconds.toPrecision(2)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** A size: `690 MiB`, `1.2 GiB`, in binary units like the doctor and GPU tools. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** power;
  return `${scaled < 10 && power > 0 ? scaled.toFixed(1) : Math.round(scaled)} ${units[power]}`;
}

/** A size in GiB alone, for tables whose heading names the unit: `1.2`. */
export function gibibytes(value: number): string {
  const scaled = value / 2 ** 30;
  return scaled < 0.05 ? '< 0.1' : scaled.toFixed(1);
}

/** What clocks may differ by; a time further ahead is of one that was set wrong. */
const AHEAD_SECONDS = 600;

/** How long ago: `just now`, `12 min ago`, `3 days ago`; the date of what is still to come. */
export function ago(at: number): string {
  const seconds = (hostNow() - at) / 1000;
  if (seconds < -AHEAD_SECONDS) return fullDate(at);
  const steps: readonly (readonly [limit: number, size: number, unit: string])[] = [
    [3600, 60, 'min'],
    [86_400, 3600, 'h'],
    [Number.POSITIVE_INFINITY, 86_400, 'day'],
  ];
  if (seconds < 60) return 'just now';
  for (const [limit, size, unit] of steps) {
    if (seconds >= limit) continue;
    const count = Math.floor(seconds / size);
    return `${unit === 'day' ? counted(count, unit) : `${count} ${unit}`} ago`;
  }
  return '';
}

/** The whole date, for a tooltip. */
export function fullDate(at: number): string {
  return date.format(at);
}
