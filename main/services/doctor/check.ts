/** One line of the doctor's report. */
export type CheckStatus = 'OK' | 'WARN' | 'FAIL';

export interface Check {
  readonly name: string;
  /** FAIL: the embedded backend can't work. WARN: something optional is missing. */
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do about it, in plain words. */
  readonly next: string | null;
  /** Whether it is about opening the app: of no use to who has it open. */
  readonly isOpening?: boolean | undefined;
}

export const ok = (name: string, detail: string): Check => ({ name, status: 'OK', detail, next: null });
export const warn = (name: string, detail: string, next: string): Check => ({ name, status: 'WARN', detail, next });
export const fail = (name: string, detail: string, next: string): Check => ({ name, status: 'FAIL', detail, next });

/** Runs a check so that its failure doesn't stop the others. */
export function guarded(name: string, next: string, check: () => Check): Check {
  try {
    return check();
  } catch (error) {
    return fail(name, error instanceof Error ? error.message : String(error), next);
  }
}
