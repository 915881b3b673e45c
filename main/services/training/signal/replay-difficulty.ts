/**
 * What AdaRFT would have sampled in a run's place: its target length is replayed generation by generation over the
 * groups that the run sampled about then. Pure.
 *
 * A generation gets what the run's groups nearest to the target had on average, out of those of the generations around
 * it; where several are equally near, the mean of all. The policy is the run's, which learned from other prompts.
 * Sampling and training take time in proportion to the words of the reference completions, and training also by how
 * many groups teach.
 */
import { type DifficultyRule, nextTarget } from '../../../trainer/batching/difficulty.ts';
import type { GroupOutcome } from '../../../trainer/protocol/trainer-events.ts';
import type { RecordWords, SignalStep } from './signal-step.ts';
import { type TrainingCost, teachingShare } from './training-cost.ts';

/** Generations before and after one whose groups stand for it. */
const AROUND = 8;

export type ReplayRule = Pick<DifficultyRule, 'targetReward' | 'sensitivity' | 'stepSize'>;

/** The records can't be read any more, all have one length, or none near the target were sampled at that time. */
export type ReplayRefusal = 'no_records' | 'one_length' | 'not_sampled';

/** Seconds that the steps would have taken, and groups that would have taught; or why neither is known. */
export function replayDifficulty(
  steps: readonly SignalStep[],
  words: RecordWords,
  cost: TrainingCost,
  rule: ReplayRule,
): { readonly seconds: number; readonly teaching: number } | ReplayRefusal {
  const known = steps.every(({ groups }) => groups.every(({ recordId }) => words?.has(recordId)));
  if (words === null || !known) return 'no_records';
  const dataset = new Map<number, Tally>();
  for (const count of words.values()) tallyOf(dataset, count).groups++;
  const lengths = [...dataset.keys()].sort((a, b) => a - b);
  const [lowest = 0, highest = 0] = [lengths[0], lengths.at(-1)];
  if (lowest === highest) return 'one_length';
  let [target, seconds, teaching] = [lowest, 0, 0];
  for (const [i, { groups, sampling, training, total }] of steps.entries()) {
    const around = steps.slice(Math.max(0, i - AROUND), i + AROUND + 1).flatMap((step) => step.groups);
    const chosen = nearest(tallies(around, words), target, groups.length);
    // The run may have trained on lengths in an order of its own.
    if (chosen.distance > nearest(dataset, target, groups.length).distance + rule.stepSize) return 'not_sampled';
    const own = groups.reduce((sum, { recordId }) => sum + (words.get(recordId) ?? 0), 0) / groups.length;
    const pace = own === 0 ? 1 : chosen.words / own;
    const effort = cost(chosen.teaching) / cost(teachingShare(groups));
    seconds += total + sampling * (pace - 1) + training * (pace * effort - 1);
    teaching += groups.length * chosen.teaching;
    target = nextTarget({ ...rule, lowest, highest }, target, chosen.reward);
  }
  return { seconds, teaching };
}

/** Groups of prompts of one length. */
interface Tally {
  groups: number;
  teaching: number;
  /** Groups whose reward is known, and the sum of their rewards. */
  scored: number;
  reward: number;
}

function tallyOf(of: Map<number, Tally>, words: number): Tally {
  const tally = of.get(words) ?? { groups: 0, teaching: 0, scored: 0, reward: 0 };
  of.set(words, tally);
  return tally;
}

function tallies(groups: readonly GroupOutcome[], words: ReadonlyMap<string, number>): ReadonlyMap<number, Tally> {
  const all = new Map<number, Tally>();
  for (const { recordId, outcome, reward } of groups) {
    const tally = tallyOf(all, words.get(recordId) ?? 0);
    tally.groups++;
    if (outcome === 'teaches') tally.teaching++;
    if (Number.isNaN(reward)) continue;
    tally.scored++;
    tally.reward += reward;
  }
  return all;
}

/** Means over the `count` groups nearest to a length; of those that are equally near each has the same share. */
function nearest(of: ReadonlyMap<number, Tally>, target: number, count: number) {
  const byDistance = new Map<number, [number, Tally][]>();
  for (const entry of of) {
    const distance = Math.abs(entry[0] - target);
    byDistance.set(distance, [...(byDistance.get(distance) ?? []), entry]);
  }
  const sums = { groups: 0, distance: 0, words: 0, teaching: 0, scored: 0, reward: 0 };
  for (const [distance, entries] of [...byDistance].sort(([a], [b]) => a - b)) {
    const there = entries.reduce((sum, [, { groups }]) => sum + groups, 0);
    const share = Math.min(1, (count - sums.groups) / there);
    for (const [words, tally] of entries) {
      sums.groups += share * tally.groups;
      sums.distance += share * tally.groups * distance;
      sums.words += share * tally.groups * words;
      sums.teaching += share * tally.teaching;
      sums.scored += share * tally.scored;
      sums.reward += share * tally.reward;
    }
    if (sums.groups >= count) break;
  }
  return {
    distance: sums.distance / sums.groups,
    words: sums.words / sums.groups,
    teaching: sums.teaching / sums.groups,
    reward: sums.reward / sums.scored,
  };
}
