/** The double's side of the channel to the test. */
import type { DoubleOptions, Report } from './wire.ts';

export const options = JSON.parse(process.env.BRAID_DOUBLE ?? '{}') as DoubleOptions;

/** Tells the test. */
export function report(message: Report, sent: () => void = () => undefined): void {
  process.send?.(message, sent);
}

/** Tells the test that something was asked of Electron; functions among the arguments are left out. */
export function called(name: string, ...args: readonly unknown[]): void {
  report({ kind: 'call', name, args: JSON.parse(JSON.stringify(args)) as unknown[] });
}
