/** The reply system's names in words. Pure. */
import type { SplitCheck } from '../../main/services/replies/split.ts';
import type { ReplyRun } from '../../main/services/reply-demo.ts';
import type { Criterion } from '../../main/services/trial.ts';

export interface Check {
  readonly verdict: 'OK' | 'WARN' | 'FAIL';
  readonly name: string;
  readonly detail: string;
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

export const methodWords: Readonly<Record<ReplyRun, { readonly label: string; readonly about: string }>> = {
  baseline: { label: 'Baseline', about: 'LoRA fitted to human replies' },
  polychromic: { label: 'Polychromic', about: 'The same, with diversity in its loss' },
  grpo_from_baseline: { label: 'GRPO', about: 'Reinforced by the reward, from the baseline' },
  polychromic_grpo: { label: 'Polychromic GRPO', about: 'Reward times diversity of sets, from the baseline' },
};
