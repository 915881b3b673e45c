import type { Verdict } from '../../main/api/contract/index.ts';

/** What stands in place of advice for the next run. What there is to do now is in the verdict: the two must agree. */
export function noAdvice({ remedy }: Pick<Verdict, 'remedy'>, isEnded: boolean): string {
  if (remedy === null) return `No advice: nothing stands out${isEnded ? '' : ' so far'}.`;
  return 'What to do is in the verdict above.';
}
