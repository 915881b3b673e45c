/** A stage in words. Pure. */
import type { StageOrigin, StageView } from '../../main/services/curriculum.ts';
import type { Promotion } from '../../main/services/promotion.ts';

/** "held-out ≥ 0.90, 2 times in a row". */
export function ruleInWords(rule: Promotion | null): string {
  if (rule === null) return 'when its steps are done';
  const times = rule.evaluations === 1 ? '' : `, ${rule.evaluations} times in a row`;
  return `held-out ≥ ${rule.at_least.toFixed(2)}${times}`;
}

/** "needs ≥ 0.90 × 2", where there is little room. */
export function ruleInShort(rule: Promotion | null): string {
  if (rule === null) return 'no rule';
  return `needs ≥ ${rule.at_least.toFixed(2)}${rule.evaluations === 1 ? '' : ` × ${rule.evaluations}`}`;
}

/** "run 7, step 180" or the model's name. */
export function originInWords(origin: StageOrigin): string {
  if (origin.kind === 'checkpoint') return `run ${origin.runId}, step ${origin.step}`;
  return origin.name.split('/').at(-1) ?? origin.name;
}

/** The stage whose checkpoint a stage that has not begun will start from, while that one is still to be trained. */
export function waitsFor(stages: readonly StageView[], stage: StageView): StageView | null {
  const before = stages.findLast(({ position }) => position < stage.position);
  const isOpen = before !== undefined && ['planned', 'queued', 'running'].includes(before.state);
  return stage.run === null && isOpen && stage.config.from_checkpoint === undefined ? before : null;
}

/** The run of a stage that ended before its last step, to go on with. */
export function runToResume({ run }: Pick<StageView, 'run'>): number | null {
  if (run === null || run.step >= run.maxSteps) return null;
  return run.state === 'running' || run.state === 'paused' ? null : run.id;
}

/** The state that a stage shows: its run says more than "failed" or "cancelled" can. */
export function stateOf({ state, run }: Pick<StageView, 'state' | 'run'>): string {
  if (run === null || (state !== 'failed' && state !== 'cancelled')) return state;
  return run.state === 'running' || run.state === 'done' ? state : run.state;
}

/** How many of the newest evaluations in a row are as good as the rule asks. */
export function metInARow(scores: readonly { readonly mean: number }[], rule: Promotion): number {
  const miss = scores.findLastIndex(({ mean }) => !(mean >= rule.at_least));
  return scores.length - 1 - miss;
}
