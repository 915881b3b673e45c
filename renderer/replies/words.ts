/** Display names for the reply system. Pure. */
import type {
  Criterion,
  ReplyChecklist,
  ReplyCheckName,
  ReplyRun,
  SplitCheck,
  TickName,
} from '../../main/api/contract/index.ts';

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

/** A post on both sides invalidates phase 2; everything else is only a warning. */
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

/** An unmet criterion means no-go. */
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
  split: 'Two-phase split',
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

/** The checklist's points as checks. */
export function checklistVerdicts(items: ReplyChecklist['items']): readonly Check[] {
  return items.map(({ name, state, detail, next }) => ({
    verdict: verdictOf[state],
    name: pointNames[name],
    detail,
    next,
  }));
}

/** The checklist's status in a few words. */
export function standing({ items, ticks, ready }: ReplyChecklist): string {
  if (ready) return 'Ready';
  const failed = items.filter(({ state }) => state === 'failed').length;
  const open = items.filter(({ state }) => state === 'open').length + ticks.filter(({ ticked }) => !ticked).length;
  const parts = [failed === 0 ? [] : [`${failed} to fix`], open === 0 ? [] : [`${open} to check`]];
  return parts.flat().join(', ');
}

/** Points that only the user can confirm. */
export const tickWords: Readonly<Record<TickName, string>> = {
  generations_read: 'I have read replies from the small-scale test, and they make sense',
  tracking: 'I know where to monitor the runs: here, or in TensorBoard and similar tools by export',
  commitment: 'This machine is free for as long as the runs take',
};

export const methodWords: Readonly<Record<ReplyRun, { readonly label: string; readonly about: string }>> = {
  baseline: { label: 'Baseline', about: 'LoRA fine-tuned on human replies' },
  polychromic: { label: 'Polychromic', about: 'The same, with a diversity term in the loss' },
  grpo_from_baseline: { label: 'GRPO', about: 'GRPO on the reward, from the baseline' },
  polychromic_grpo: { label: 'Polychromic GRPO', about: 'GRPO on reward × set diversity, from the baseline' },
};

/** Labels of the default starting points. */
export const defaultStarts = {
  model: 'tiny-reply (preset default)',
  start: 'newest baseline on this split',
} as const;
