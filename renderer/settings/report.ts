/** The doctor's checks in words. Pure. */
import type { Check } from '../../main/api/contract/index.ts';
import { counted } from '../components/format.ts';

/** One line: whether Braid works here, and what could be better. */
export function verdictOf(checks: readonly Check[]): string {
  const failed = checks.filter(({ status }) => status === 'FAIL').length;
  const warned = checks.filter(({ status }) => status === 'WARN').length;
  const hints = warned === 0 ? '' : `; ${counted(warned, 'thing')} could be better`;
  if (failed === 0) return `This machine runs Braid${hints}`;
  return `${counted(failed, 'check')} failed: Braid can't run here yet${hints}`;
}

/** A report to share: one line per check, with what to do below it. */
export function reportOf(checks: readonly Check[], version: string): string {
  const lines = checks.flatMap(({ name, status, detail, next }) => [
    `${status.padEnd(4)} ${name}: ${detail}`,
    ...(next === null ? [] : [`     ${next}`]),
  ]);
  return [`Braid ${version}`, ...lines, ''].join('\n');
}

/** The doctor's findings without those on how the app can be opened: whoever reads this has it open. */
export function shownChecks(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ isOpening }) => isOpening !== true);
}
