/**
 * The prompts that a run draws from the endless stream of shuffled epochs (batching.ts). A generation draws P; what it
 * draws or skips in addition, because of rewards, moves all later ones along the stream, so that an epoch still covers
 * every record. With the plan, this state determines every later prompt, and a checkpoint holds it.
 *
 * Skipping is GRESO (Zheng et al. 2025, arXiv 2506.02177): a prompt whose last z groups were all dead is drawn with
 * probability p^z, p = `greso_exploration`, and skipped otherwise. Ours: p is fixed, where the paper moves it, apart for
 * prompts that are too easy and too hard, towards a share of dead groups; and an epoch is never skipped whole.
 */
import { hashString, uniform } from '../../random.ts';
import { type Advantages, deadGroups, nanStats } from '../advantages/advantages.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import { type BatchPlan, groupOrder, recordAt } from './batching.ts';
import { difficultyMetrics, nearestRecords, nextTarget } from './difficulty.ts';

export interface PromptState {
  /** Prompts drawn or skipped so far in addition to P per generation. */
  readonly extra: number;
  /** By record, how many of its last groups were dead in a row; records without are absent. Empty without GRESO. */
  readonly deadInRow: ReadonlyMap<number, number>;
  /** With AdaRFT, the difficulty of the next generation's prompts; null before the first. */
  readonly targetDifficulty: number | null;
}

export const startOfPrompts: PromptState = { extra: 0, deadInRow: new Map(), targetDifficulty: null };

export interface DrawnPrompts {
  /** Indices of records. */
  readonly records: readonly number[];
  readonly skipped: number;
  readonly state: PromptState;
}

const SKIP_STREAM = hashString('greso');

/** The P prompts of a generation, in the order of its groups. */
export function drawPrompts(plan: BatchPlan, state: PromptState, generation: number): DrawnPrompts {
  if (plan.difficulty !== null) {
    const target = state.targetDifficulty ?? plan.difficulty.lowest;
    const records = nearestRecords(plan.difficulty, target, generation, plan.groupsPerGeneration);
    return { records, skipped: 0, state: { ...state, targetDifficulty: target } };
  }
  const first = generation * plan.groupsPerGeneration + state.extra;
  const { records, skipped } = draw(plan, state, first, plan.groupsPerGeneration);
  return {
    records: groupOrder(plan, records, generation),
    skipped,
    state: { ...state, extra: state.extra + skipped },
  };
}

/** The next prompts after those that a generation has drawn. */
export function drawMore(plan: BatchPlan, state: PromptState, generation: number, count: number): DrawnPrompts {
  const first = (generation + 1) * plan.groupsPerGeneration + state.extra;
  const { records, skipped } = draw(plan, state, first, count);
  return { records, skipped, state: { ...state, extra: state.extra + count + skipped } };
}

function draw(plan: BatchPlan, state: PromptState, first: number, count: number) {
  const records: number[] = [];
  let [position, skippedInRow] = [first, 0];
  for (; records.length < count; position++) {
    const record = recordAt(plan, position);
    if (skippedInRow < plan.records && isSkipped(plan, state.deadInRow.get(record) ?? 0, position)) skippedInRow++;
    else {
      records.push(record);
      skippedInRow = 0;
    }
  }
  return { records, skipped: position - first - count };
}

function isSkipped({ exploration, seed }: BatchPlan, deadInRow: number, position: number): boolean {
  return exploration !== null && uniform(seed, SKIP_STREAM, position) < skipProbability(exploration, deadInRow);
}

/** The probability with which a prompt is skipped after so many dead groups in a row: 1 − p^z. */
export function skipProbability(exploration: number, deadInRow: number): number {
  return 1 - exploration ** deadInRow;
}

/** The state after the groups of these records were scored. */
export function withOutcomes(
  { exploration, difficulty }: BatchPlan,
  state: PromptState,
  records: readonly number[],
  result: Pick<Advantages, 'rewards' | 'groupStd'>,
): PromptState {
  if (difficulty !== null && state.targetDifficulty !== null) {
    const reward = nanStats(result.rewards).mean;
    return { ...state, targetDifficulty: nextTarget(difficulty, state.targetDifficulty, reward) };
  }
  if (exploration === null) return state;
  const dead = deadGroups(result);
  const deadInRow = new Map(state.deadInRow);
  records.forEach((record, place) => {
    // A group without scores says nothing of its prompt.
    if (Number.isNaN(result.groupStd[place])) return;
    if (dead.includes(place)) deadInRow.set(record, (deadInRow.get(record) ?? 0) + 1);
    else deadInRow.delete(record);
  });
  return { ...state, deadInRow };
}

/**
 * With GRESO, prompts skipped for a generation, and the share of records that may be skipped; with AdaRFT, difficulties
 * of the generation that was drawn in the state `before`.
 */
export function drawingMetrics(
  { exploration, difficulty, records: count }: BatchPlan,
  { before, after }: { readonly before: PromptState; readonly after: PromptState },
  { records, skipped }: Pick<DrawnPrompts, 'records' | 'skipped'>,
): Metrics {
  if (difficulty !== null) return difficultyMetrics(difficulty, before.targetDifficulty ?? difficulty.lowest, records);
  if (exploration === null) return {};
  return { 'greso/skipped': skipped, 'greso/dead_prompts': after.deadInRow.size / count };
}
