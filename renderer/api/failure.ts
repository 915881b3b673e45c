/** What went wrong, as the page says it. */
import { ORPCError } from '@orpc/client';

export interface Failure {
  readonly message: string;
  readonly remedy: string | null;
  /** The host's stable code; null for a failure of the line. */
  readonly code: string | null;
}

/** Reads any error of a call. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ORPCError)) {
    return { message: error instanceof Error ? error.message : String(error), remedy: null, code: null };
  }
  const { code = null, remedy = null } = (error.data ?? {}) as { code?: string; remedy?: string | null };
  return { message: error.message, remedy, code };
}
