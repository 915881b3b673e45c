/** Why a request failed: fetch puts the reason in its error's cause. */
export function fetchReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  // Of several addresses that were tried, the cause has no message of its own.
  const reason = cause instanceof Error && cause.message === '' && 'code' in cause ? String(cause.code) : null;
  return cause instanceof Error ? `${message}: ${reason ?? cause.message}` : message;
}
