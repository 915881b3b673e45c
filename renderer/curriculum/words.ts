/** Describes stages in words. Pure. */
import type { LiveStatus, Promotion, StageOrigin, StageSettings, StageView } from '../../main/api/contract/index.ts';
import { formatValue } from '../components/config-form/entry.ts';
import { counted, score } from '../components/format.ts';

/** "held-out ≥ 0.90, 2 times in a row". */
export function ruleInWords(rule: Promotion | null): string {
  if (rule === null) return 'all steps are done';
  const times = rule.evaluations === 1 ? '' : `, ${rule.evaluations} times in a row`;
  return `held-out ≥ ${rule.at_least.toFixed(2)}${times}`;
}

/** "needs ≥ 0.90 × 2", for tight spaces. */
export function ruleInShort(rule: Promotion | null): string {
  if (rule === null) return 'no rule';
  return `needs ≥ ${rule.at_least.toFixed(2)}${rule.evaluations === 1 ? '' : ` × ${rule.evaluations}`}`;
}

/** "run 7, step 180" or the model's name. */
export function originInWords(origin: StageOrigin): string {
  if (origin.kind === 'checkpoint') return `run ${origin.runId}, step ${origin.step}`;
  return shortName(origin.name);
}

/** That a stage's newest score is below its baseline, under its best one, which need not be: `last 0.063, below the 0.125 before`. */
export function worseInWords({ newest, baseline }: NonNullable<StageView['standing']>, best: number | null): string {
  const last = newest === null || newest.mean === best ? '' : `last ${score(newest.mean)}, `;
  return `${last}below the ${score(baseline)} before`;
}

/** Why a stage starts from its model although a checkpoint lies before it. */
export function leftInWords({ runId, step, base, model }: NonNullable<StageSettings['left']>): string {
  return `Starts from ${shortName(model)} itself: the checkpoint before it (run ${runId}, step ${step}) was trained from ${shortName(base)}.`;
}

/** Why a stage's default learning rate isn't the preset's. */
export function loweredInWords({ rate, preset }: NonNullable<StageSettings['lowered']>): string {
  return `The default learning_rate is ${formatValue(rate)} here instead of the preset's ${formatValue(preset)}: with texts this long, the bundled model forgets how to copy at the larger one.`;
}

/** A model's name without its folder. */
function shortName(model: string): string {
  return model.split('/').at(-1) ?? model;
}

/**
 * The earlier stage that an unstarted stage waits for: it will start from that stage's checkpoint, which isn't trained
 * yet.
 */
export function waitsFor(stages: readonly StageView[], stage: StageView): StageView | null {
  if (stage.run !== null || stage.config.from_checkpoint !== undefined) return null;
  const before = stages.findLast((other) => other.position < stage.position && !startsBefore(stage, other));
  const isOpen = before !== undefined && ['planned', 'queued', 'running'].includes(before.state);
  return isOpen ? before : null;
}

/** Whether a queued stage starts before an earlier one of the ladder, which is queued behind it or not at all. */
function startsBefore(stage: StageView, earlier: StageView): boolean {
  if (stage.state !== 'queued') return false;
  if (earlier.state === 'queued') return (earlier.queuedAt ?? 0) > (stage.queuedAt ?? 0);
  return earlier.state === 'planned';
}

/** The run of a stage that ended before its last step and can be resumed. */
export function runToResume({ run, metScore }: Pick<StageView, 'run' | 'metScore'>): number | null {
  if (run === null || metScore !== null || run.step >= run.maxSteps) return null;
  return run.state === 'running' || run.state === 'paused' ? null : run.id;
}

/** The button that ends a pause of the queue; null: resuming a run does. Free runs and sweeps may wait without a stage. */
export function releaseLabel(nextStage: string | undefined, runToResume: number | null): string | null {
  if (nextStage !== undefined) return `Start ${nextStage} anyway`;
  return runToResume === null ? 'Continue the queue' : null;
}

/** The action that a stage suggests: what the user would most likely do next. */
export type PrimaryAction =
  | { readonly kind: 'open'; readonly runId: number }
  | { readonly kind: 'resume'; readonly runId: number; readonly step: number }
  | { readonly kind: 'next'; readonly stageId: number; readonly name: string }
  | { readonly kind: 'start' };

/** Resumes what ended early instead of starting it again, and continues with the next stage after one that is done. */
export function primaryAction(stages: readonly StageView[], stage: StageView): PrimaryAction {
  const { state, run, position } = stage;
  if (state === 'running' && run !== null) return { kind: 'open', runId: run.id };
  const runId = runToResume(stage);
  if (runId !== null && run !== null && (run.state === 'interrupted' || run.state === 'stopped'))
    return { kind: 'resume', runId, step: run.step };
  const next = stages.find((other) => other.position > position && OPEN.includes(other.state));
  if (state === 'done' && next !== undefined && next.dataset !== null)
    return { kind: 'next', stageId: next.id, name: next.name };
  return { kind: 'start' };
}

/** Its button, and its key in the list of keys. */
export function primaryLabel(action: PrimaryAction): string {
  switch (action.kind) {
    case 'open':
      return 'Open the run';
    case 'resume':
      return 'Resume';
    case 'next':
      return `Start ${action.name}`;
    case 'start':
      return 'Start stage';
  }
}

const OPEN: readonly StageView['state'][] = ['planned', 'failed', 'unmet', 'cancelled'];

/** The state to show: that of the run where it is more specific than the stage's. */
export function stateOf(
  { state, run, metScore }: Pick<StageView, 'state' | 'run' | 'metScore'>,
  live: LiveStatus | null = null,
): string {
  if (metScore !== null) return 'met without training';
  if (state === 'running') return live?.state === 'paused' || run?.state === 'paused' ? 'paused' : state;
  if (run === null || (state !== 'failed' && state !== 'cancelled')) return state;
  return run.state === 'running' || run.state === 'done' ? state : run.state;
}

/** What the records of a stage are called: those with a length are pairs of texts. */
export function recordWord(words: number | null): 'pair' | 'record' {
  return words === null ? 'record' : 'pair';
}

/** 1 step, 90 steps. */
export function stepCount(steps: number): string {
  return counted(steps, 'step');
}
