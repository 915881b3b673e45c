/** The runs that Home offers to resume. Pure. */
import type { RunSummary } from '../../main/api/contract/index.ts';

type Known = Pick<RunSummary, 'id' | 'state' | 'step' | 'maxSteps'>;

/**
 * Interrupted runs; and the newest run if it was stopped before its end, by Ctrl-C or by closing the app. Earlier ones
 * that were stopped are over for their user.
 */
export function resumableRuns<R extends Known>(interrupted: readonly R[], recent: readonly R[]): readonly R[] {
  const [newest] = recent;
  const isLeft = newest?.state === 'stopped' && newest.step < newest.maxSteps;
  return isLeft ? [newest, ...interrupted] : interrupted;
}
