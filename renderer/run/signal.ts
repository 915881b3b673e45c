/** The signal budget as chart series and in words. Pure. */
import type { SignalBudget } from '../../main/api/contract/index.ts';
import type { ChartSeries } from '../charts/series.ts';
import { duration, number } from '../components/format.ts';

const outcomes = [
  { id: 'teaches', label: 'teaches', colour: 'strand-a' },
  { id: 'solved', label: 'learned', colour: 'strand-b' },
  { id: 'dead', label: 'dead', colour: 'faint' },
] as const;

/** Shares of groups by outcome, each at the last step that it covers. */
export function outcomeSeries({ bins }: Pick<SignalBudget, 'bins'>): readonly ChartSeries[] {
  return outcomes.map((outcome) => ({
    ...outcome,
    x: bins.map(({ to }) => to),
    y: bins.map((bin) => bin[outcome.id]),
  }));
}

/** How many prompts still teach. */
export function promptWords({ prompts: { teaches, solved, dead }, groups }: Pick<SignalBudget, 'prompts' | 'groups'>) {
  const all = teaches + solved + dead;
  return `${count(all, 'prompt')} sampled in ${count(groups, 'group')}. By the last group of each, ${number(teaches)} still ${
    teaches === 1 ? 'teaches' : 'teach'
  }, ${number(solved)} ${solved === 1 ? 'is' : 'are'} learned and ${number(dead)} ${dead === 1 ? 'is' : 'are'} dead.`;
}

/** Savings and costs below this share of the run's time are called none: the estimate isn't finer. */
const NONE = 0.01;

/** What a setting would have done to the run's time. */
export function savingWords(
  { setting, isUsed, seconds }: Pick<SignalBudget['savings'][number], 'setting' | 'isUsed' | 'seconds'>,
  total: number,
): string {
  if (isUsed) return 'In use.';
  if (seconds === null) return 'Not known: no group had anything to teach.';
  if (Math.abs(seconds) < NONE * total) return 'Would have changed hardly anything.';
  const percent = number(Math.round((100 * Math.abs(seconds)) / total));
  const basis = setting === 'pods_update_size' ? 'in as many steps' : 'for as many groups that teach';
  return seconds > 0
    ? `Would have saved about ${duration(seconds)} (${percent} %) ${basis}.`
    : `Would have cost about ${duration(-seconds)} (${percent} %) more ${basis}.`;
}

function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
}
