/**
 * The prompts that a run draws from the endless stream of shuffled epochs (batching.ts). A generation draws P; what it
 * draws in addition, because of rewards, moves all later ones along the stream, so that an epoch still covers every
 * record. How many those are is the only state: with the plan it determines every later prompt, and a checkpoint holds it.
 */
import { type BatchPlan, groupOrder, recordAt } from './batching.ts';

export interface PromptState {
  /** Prompts drawn so far in addition to P per generation. */
  readonly extra: number;
}

export const startOfPrompts: PromptState = { extra: 0 };

export interface DrawnPrompts {
  /** Indices of records. */
  readonly records: readonly number[];
  readonly state: PromptState;
}

/** The P prompts of a generation, in the order of its groups. */
export function drawPrompts(plan: BatchPlan, state: PromptState, generation: number): DrawnPrompts {
  const first = generation * plan.groupsPerGeneration + state.extra;
  return { records: groupOrder(plan, indices(plan, first, plan.groupsPerGeneration), generation), state };
}

/** The next prompts after those that a generation has drawn. */
export function drawMore(plan: BatchPlan, state: PromptState, generation: number, count: number): DrawnPrompts {
  const first = (generation + 1) * plan.groupsPerGeneration + state.extra;
  return { records: indices(plan, first, count), state: { ...state, extra: state.extra + count } };
}

function indices(plan: BatchPlan, first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => recordAt(plan, first + i));
}
