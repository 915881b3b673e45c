import type { Verdict } from '../../main/api/contract/index.ts';

/** What stands in place of advice for the next run. What there is to do now is in the verdict: the two must agree. */
export function noAdvice({ remedy }: Pick<Verdict, 'remedy'>): string {
  if (remedy === null) return 'No advice: nothing stands out so far.';
  return 'What to do now is in the verdict above. It needs no change of settings for the next run.';
}
