/** An error as the page shows it. */
import { ORPCError } from '@orpc/client';

export interface Failure {
  readonly message: string;
  readonly remedy: string | null;
  /** The host's stable error code; null if the connection failed. */
  readonly code: string | null;
}

/** Converts any error thrown by a call. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ORPCError)) {
    return { message: error instanceof Error ? error.message : String(error), remedy: null, code: null };
  }
  const { code = null, remedy = null } = (error.data ?? {}) as { code?: string; remedy?: string | null };
  return { message: error.message, remedy, code };
}
