/** Ctrl-C before a command listens to it itself: while its code is read, a signal would end it without an exit code. */

/** The exit code of an interrupted command. */
export const INTERRUPTED = 130;

/** Ends the process with 130 at Ctrl-C for as long as nothing else listens to it. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') > 1) return;
    process.stderr.write('\nInterrupted.\n');
    process.exit(INTERRUPTED);
  });
}

/**
 * Leaves Ctrl-C to the system, which ends the process at once: while a reward is waited for, nothing here could listen.
 * For work that leaves nothing half done.
 */
export function endAtInterrupt(): void {
  process.removeAllListeners('SIGINT');
}
