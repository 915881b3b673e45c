/** One line of the doctor's report. */
export type CheckStatus = 'OK' | 'WARN' | 'FAIL';

export interface Check {
  readonly name: string;
  /** FAIL: the embedded default can't work. WARN: something more would be possible. */
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do about it, in plain words. */
  readonly next: string | null;
}

export const ok = (name: string, detail: string): Check => ({ name, status: 'OK', detail, next: null });
export const warn = (name: string, detail: string, next: string): Check => ({ name, status: 'WARN', detail, next });
export const fail = (name: string, detail: string, next: string): Check => ({ name, status: 'FAIL', detail, next });

/** A check that must not bring the others down. */
export function guarded(name: string, next: string, check: () => Check): Check {
  try {
    return check();
  } catch (error) {
    return fail(name, error instanceof Error ? error.message : String(error), next);
  }
}

/** Bytes as people say them. */
export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30;
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}
