/** The reply system's names in words. Pure. */
import type { ReplyChecklist, ReplyCheckName, TickName } from '../../main/services/replies/checklist.ts';
import type { SplitCheck } from '../../main/services/replies/split.ts';
import type { ReplyRun } from '../../main/services/reply-demo.ts';
import type { Criterion } from '../../main/services/trial.ts';

export interface Check {
  readonly verdict: 'OK' | 'WARN' | 'FAIL';
  readonly name: string;
  readonly detail: string;
  /** What to do about it. */
  readonly next?: string | null;
}

const checkNames: Readonly<Record<SplitCheck['name'], string>> = {
  posts_disjoint: 'No overlap',
  quartile_shares: 'Quartile shares',
  duplicates: 'Duplicates',
  quartiles_filled: 'Quartiles filled',
};

/** A post on both sides spoils the second phase; all else can be lived with. */
export function splitVerdicts(checks: readonly SplitCheck[]): readonly Check[] {
  return checks.map(({ name, ok, detail }) => ({
    verdict: ok ? 'OK' : name === 'posts_disjoint' ? 'FAIL' : 'WARN',
    name: checkNames[name],
    detail,
  }));
}

const criterionNames: Readonly<Record<Criterion['name'], string>> = {
  completes: 'Completes',
  loss_falls: 'Loss falls',
  reward_rises: 'Reward rises',
  generations_reasonable: 'Generations make sense',
};

/** A criterion that is not met means no-go. */
export function criterionVerdicts(criteria: readonly Criterion[]): readonly Check[] {
  return criteria.map(({ name, ok, detail }) => ({
    verdict: ok ? 'OK' : 'FAIL',
    name: criterionNames[name],
    detail,
  }));
}

const pointNames: Readonly<Record<ReplyCheckName, string>> = {
  records: 'Records',
  held_out: 'Held-out records',
  split: 'Split for two phases',
  phases_disjoint: 'Phases share no post',
  held_out_disjoint: 'Held-out posts unseen',
  quartiles: 'Quartiles even',
  model: 'Model',
  configurations: 'Configurations',
  reward: 'Reward',
  warm_start: 'Warm start',
  memory: 'Memory',
  disk: 'Disk',
  machine: 'Machine free',
  small_scale_test: 'Small-scale test',
  time: 'Time and cost',
};

const verdictOf = { done: 'OK', open: 'WARN', failed: 'FAIL' } as const;

/** The points of the list before training. */
export function checklistVerdicts(items: ReplyChecklist['items']): readonly Check[] {
  return items.map(({ name, state, detail, next }) => ({
    verdict: verdictOf[state],
    name: pointNames[name],
    ...{ detail, next },
  }));
}

/** How the list stands, in a few words. */
export function standing({ items, ticks, ready }: ReplyChecklist): string {
  if (ready) return 'Ready';
  const failed = items.filter(({ state }) => state === 'failed').length;
  const open = items.filter(({ state }) => state === 'open').length + ticks.filter(({ ticked }) => !ticked).length;
  const parts = [failed === 0 ? [] : [`${failed} to mend`], open === 0 ? [] : [`${open} open`]];
  return parts.flat().join(', ');
}

/** What only a person can say. */
export const tickWords: Readonly<Record<TickName, string>> = {
  generations_read: 'I have read replies of the small-scale test: they make sense.',
  tracking: 'I know where to watch: the run pages here, or TensorBoard and the like by their export.',
  commitment: 'The machine can be given to it for the time it takes.',
};

export const methodWords: Readonly<Record<ReplyRun, { readonly label: string; readonly about: string }>> = {
  baseline: { label: 'Baseline', about: 'LoRA fitted to human replies' },
  polychromic: { label: 'Polychromic', about: 'The same, with diversity in its loss' },
  grpo_from_baseline: { label: 'GRPO', about: 'Reinforced by the reward, from the baseline' },
  polychromic_grpo: { label: 'Polychromic GRPO', about: 'Reward times diversity of sets, from the baseline' },
};

/** What is begun with where nothing was chosen. */
export const usualStarts = {
  model: 'tiny-reply, as the presets say',
  start: 'the newest baseline of this model',
} as const;
