/** A dry run in words. Pure. */
import type { RescoredDraft, TrialReport } from '../../main/api/contract/index.ts';
import { largest, smallest } from '../components/extremes.ts';
import { counted, number, score } from '../components/format.ts';

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly text: string;
}

/** `6 of 8 would be dead, 1 failed` */
export function deadInWords({
  dead,
  failedGroups,
  groups,
}: Pick<TrialReport, 'dead' | 'failedGroups' | 'groups'>): string {
  if (groups.length === 0) return 'no group of two or more completions';
  const failed = failedGroups === 0 ? '' : `, ${number(failedGroups)} failed`;
  return `${number(dead)} of ${number(groups.length)} would be dead${failed}`;
}

/** Whether a model could learn from this reward, and if not, why. */
export function verdictOf(report: TrialReport): Verdict {
  const { n, failures, rewards, dead, groups, mean } = report;
  if (n > 0 && failures === n) return { tone: 'bad', text: 'The reward fails on every completion.' };
  const real = rewards.filter(Number.isFinite);
  if (real.length > 1 && largest(real) - smallest(real) < 1e-9)
    return {
      tone: 'bad',
      text: `The reward is constant: every completion${failures > 0 ? ' that it can score' : ''} gets ${score(mean)}. Nothing can be learned from it.`,
    };
  if (failures > 0)
    return { tone: 'warn', text: `The reward fails on ${number(failures)} of ${counted(n, 'completion')}.` };
  if (groups.length === 0)
    return {
      tone: 'warn',
      text: 'Rewards differ, but there are no groups: sample several completions of each prompt.',
    };
  if (dead === groups.length)
    return { tone: 'bad', text: 'All groups would be dead: rewards differ between prompts only, not within a group.' };
  if (dead > groups.length / 2)
    return {
      tone: 'warn',
      text: `${number(dead)} of ${counted(groups.length, 'group')} would be dead: most prompts teach nothing.`,
    };
  return {
    tone: 'good',
    text: `${number(groups.length - dead)} of ${counted(groups.length, 'group')} would teach the model something.`,
  };
}

/** What another version of a reward changes in the groups. The sign of a completion can change without the order: the mean moves. */
export function orderInWords({
  order_changed,
  sign_changed,
  groups,
}: Pick<RescoredDraft, 'order_changed' | 'sign_changed' | 'groups'>): string {
  if (order_changed > 0)
    return `The order changes in ${number(order_changed)} of ${counted(groups, 'group')}, and the gradient's sign for ${counted(sign_changed, 'completion')}.`;
  const same = 'The order of completions stays the same in every group';
  if (sign_changed === 0) return `${same}: no completion's gradient changes its sign.`;
  return `${same}, but the gradient's sign changes for ${counted(sign_changed, 'completion')}: the groups' means move.`;
}

/** Pearson's r with two decimals: `−0.87`. */
export function correlation(r: number): string {
  const size = Math.abs(r).toFixed(2);
  return `${r < 0 && Number(size) !== 0 ? '−' : ''}${size}`;
}
