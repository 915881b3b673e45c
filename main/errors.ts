/**
 * The one error type shown to users. `input` errors are for the caller to fix (exit code 2);
 * `runtime` errors happened while carrying out a request (exit code 1).
 */
export type ErrorKind = 'input' | 'runtime';

export interface BraidErrorOptions {
  readonly kind?: ErrorKind;
  readonly cause?: unknown;
  /** What to do about it, one sentence. */
  readonly remedy?: string;
}

/** Longer messages show somebody's whole file. */
const LONGEST_MESSAGE = 10_000;

/** An error with a stable code; the message says what happened, `remedy` what to do. */
export class BraidError extends Error {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly remedy: string | undefined;

  constructor(code: string, message: string, options: BraidErrorOptions = {}) {
    super(bounded(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BraidError';
    this.code = code;
    this.kind = options.kind ?? 'runtime';
    this.remedy = options.remedy;
  }
}

function bounded(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)} …` : message;
}

/** An error in the user's input: a file, a field, an argument. */
export function inputError(code: string, message: string, remedy?: string): BraidError {
  return new BraidError(code, message, remedy === undefined ? { kind: 'input' } : { kind: 'input', remedy });
}

/** An error in which one path stands for another: the user knows the place, the hidden folder beside it is gone by then. */
export function errorAbout(error: unknown, hidden: string, place: string): unknown {
  if (!(error instanceof BraidError) || !error.message.includes(hidden)) return error;
  const { code, kind, remedy, message } = error;
  return new BraidError(code, message.replaceAll(hidden, place), {
    kind,
    cause: error,
    ...(remedy !== undefined && { remedy: remedy.replaceAll(hidden, place) }),
  });
}
