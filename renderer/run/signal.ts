/** The signal budget as chart series and in words. Pure. */
import type { SignalBudget } from '../../main/api/contract/index.ts';
import type { ChartSeries } from '../charts/series.ts';
import { counted, duration, number } from '../components/format.ts';

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
  return `${counted(all, 'prompt')} sampled in ${counted(groups, 'group')}. By the last group of each, ${number(teaches)} still ${
    teaches === 1 ? 'teaches' : 'teach'
  }, ${number(solved)} ${solved === 1 ? 'is' : 'are'} learned and ${number(dead)} ${dead === 1 ? 'is' : 'are'} dead.`;
}

/** Savings and costs below this share of the run's time are called none: the estimate isn't finer. */
const NONE = 0.01;

type Saving = SignalBudget['savings'][number];

const unknowns: Readonly<Record<NonNullable<Saving['unknown']>, string>> = {
  no_signal: 'Not known: no group had anything to teach.',
  changes_update:
    'Can’t be known from this run’s history: it changes what a group teaches, not which groups are sampled.',
  negative_rewards: 'Not possible: some rewards of this run are below 0, and a mean of both signs can be close to 0.',
  no_records: 'Can’t be known from this run’s history: its dataset is gone, changed or can’t be read.',
  one_length: 'Nothing to choose from: all records of this run’s dataset have the same length.',
  not_sampled: 'Can’t be known from this run’s history: it hadn’t sampled the lengths that would have been chosen.',
};

/** What a setting would have done to the run's time, or why that isn't known. */
export function savingWords(
  { setting, isUsed, conflict, seconds, unknown }: Omit<Saving, 'change'>,
  total: number,
): string {
  if (isUsed) return 'In use.';
  if (conflict !== null) return `Not possible beside ${conflict}, which this run sets.`;
  if (seconds === null) return unknowns[unknown ?? 'no_signal'];
  if (Math.abs(seconds) < NONE * total) return 'Would have changed hardly anything.';
  const percent = number(Math.round((100 * Math.abs(seconds)) / total));
  const basis = setting === 'pods_update_size' ? 'in as many steps' : 'for as many groups that teach';
  return seconds > 0
    ? `Would have saved about ${duration(seconds)} (${percent}%) ${basis}.`
    : `Would have cost about ${duration(-seconds)} (${percent}%) more ${basis}.`;
}
