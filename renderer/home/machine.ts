/** What Home shows of the machine. Pure. */
import type { Check } from '../../main/api/contract/index.ts';

/** The doctor's findings without those on how the app can be opened: whoever reads this has it open. */
export function shownChecks(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ isOpening }) => isOpening !== true);
}
