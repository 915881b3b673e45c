/** Faults that no caller catches: logged and shown to the person, and never the end of a host with runs to look after. */
import { visibleFault } from '../../text/visible.ts';
import type { Notices } from './notices.ts';

/** Writes a fault with its stack to the log. */
export function logFault(where: string, fault: unknown): void {
  process.stderr.write(`braid: ${where} failed: ${visibleFault(fault)}\n`);
}

/** Logs unhandled rejections and adds a notice for each, in place of Node's default, which ends the process. */
export function surviveRejections(notices: Pick<Notices, 'add'>): () => void {
  const onRejection = (fault: unknown): void => {
    logFault('A background task', fault);
    notices.add({
      severity: 'error',
      message: `A background task failed: ${fault instanceof Error ? fault.message : String(fault)}`,
      remedy: 'Runs and stored data are not affected. The log has the details.',
      runId: null,
    });
  };
  process.on('unhandledRejection', onRejection);
  return () => void process.off('unhandledRejection', onRejection);
}
