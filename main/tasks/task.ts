/** The interface of a training task: how records are read, prompted, scored and measured. */

import type { ChatMessage, ChatTool, WrittenCall } from '../samples/chat-message.ts';
import type { Completed } from '../samples/completion.ts';

/** One line of a dataset of any task. */
export interface TaskRecord {
  readonly id: string;
  /** What the model is given, in one text. */
  readonly prompt: string;
  /** The same in messages, where it has more than one; a conversation may end with the assistant's turn: the target. */
  readonly messages?: readonly ChatMessage[];
}

/** One completion's reward, by component. `NaN` in a component means that it does not apply. */
export type RewardComponents = Readonly<Record<string, number>>;

/** A completion and the record that it answers. */
export interface Answer<R extends TaskRecord = TaskRecord> extends Completed {
  readonly record: R;
  /** What the model was asked under a system prompt of its run; absent: what the record says. */
  readonly asked?: readonly ChatMessage[];
  /** What the environment gave while the completion was sampled; absent: it is asked again. */
  readonly outcome?: Score;
  /** The completions of the same prompt, for rewards that compare them; absent: this one alone. */
  readonly group?: Group;
}

/** The completions of one prompt (groups.ts). */
export interface Group {
  /** All of them, in order. One list for all answers of the group: sent to a thread, it is copied once. */
  readonly completions: readonly Completed[];
  /** Which of them the answer is, from 0. */
  readonly place: number;
}

/** A scored completion. A failed one has the reason, and `NaN` in every component. */
export interface Score {
  readonly components: RewardComponents;
  readonly failure: string | null;
}

/** One scored completion in an evaluation: the main score plus the task's other metrics. */
export type TaskMetrics = Readonly<Record<string, number>>;

/** Semantic similarity of the two texts of each pair, 0 to 1. */
export type TextSimilarity = (pairs: readonly (readonly [a: string, b: string])[]) => readonly number[];

/** How a completion is shown: word by word against its target, beside a reference, as plain text, as JSON, as code. */
export const taskShows = ['aligned', 'beside', 'plain', 'json', 'code'] as const;
export type TaskShow = (typeof taskShows)[number];

/** What is known of a task without a record or a completion. */
export interface TaskFacts {
  readonly name: string;
  /** Reward functions in a fixed order; the trainer weights and sums them. */
  readonly rewardNames: readonly string[];
  /** Default weights; null: all 1. */
  readonly rewardWeights: readonly number[] | null;
  /** The total reward of a perfect completion, or null if there is no maximum. */
  readonly highestReward: number | null;
  /** One of the metrics that `measure` gives. */
  readonly mainMetric: string;
  readonly show: TaskShow;
  /** Maximum tokens of a completion; null: from the longest reference. */
  readonly maxCompletionLength: number | null;
  /** Whether its records have targets that can be trained on; a record may still have an empty one. */
  readonly hasTargets: boolean;
  /** Turns that the model has in a completion; absent: the task has no environment. */
  readonly maxTurns?: number;
  /** The functions that the model may call in every record; absent: the task has none. */
  readonly toolNames?: readonly string[];
}

/** A turn of the model for an environment. */
export interface EnvironmentTurn<R extends TaskRecord = TaskRecord> {
  readonly record: R;
  /** The conversation from the prompt on; the last message is the turn. */
  readonly messages: readonly ChatMessage[];
  /** From 1; 0: nothing was said yet, and the environment begins. */
  readonly turn: number;
  readonly finish: 'stop' | 'length';
  /** What the environment gave with the turn before; null at the first. */
  readonly state: unknown;
  /** The calls in the turn, where the environment is the task's tools. */
  readonly calls?: readonly WrittenCall[];
}

/** What an environment says to a turn. */
export interface EnvironmentStep {
  /** Null: nothing, which only the last step may say. */
  readonly message: string | null;
  /** By component; null: none at this turn. */
  readonly rewards: RewardComponents | null;
  readonly done: boolean;
  /** What it wants to know at the next turn. */
  readonly state: unknown;
  /** Of tools: the turn with the calls that it had, and their results. */
  readonly called?: { readonly turn: ChatMessage; readonly results: readonly ChatMessage[] };
}

/** What answers the model between its turns. */
export interface Environment<R extends TaskRecord = TaskRecord> {
  readonly maxTurns: number;
  /** Tokens of one turn; null: only the completion as a whole is limited. */
  readonly maxTurnTokens: number | null;
  /** Whether it is the task's tools, which answer the calls that a turn has. */
  readonly hasTools?: boolean;
  /** Whether it speaks first, at the end of the prompt: it is asked for turn 0 then, which has no words of the model's. */
  readonly opens?: boolean;
  /** Answers turns, in order; a text says why a step failed. It has no memory: the same turn gets the same answer. */
  step(turns: readonly EnvironmentTurn<R>[]): readonly (EnvironmentStep | string)[];
  /** Ends conversations that nobody continues; absent: it keeps none. */
  release?(): void;
  /** Whether the same actions have had another result since the last call; absent: they can't. */
  takeChanged?(): boolean;
  /** What is wrong with how the task asks it, and what else there is to know, by playing the start of a record. */
  examine?(record: R): { readonly faults: readonly string[]; readonly notes: readonly string[] };
  /** The same where answers take time: each comes when it is there, and other completions continue; absent: they don't. */
  stepLater?(turns: readonly EnvironmentTurn<R>[]): readonly Promise<EnvironmentStep | string>[];
}

/** The weighted sum of a completion's components; NaN for a failed one. */
export function totalReward(
  { rewardNames, rewardWeights }: Pick<TaskFacts, 'rewardNames' | 'rewardWeights'>,
  components: RewardComponents,
): number {
  return rewardNames.reduce((sum, name, k) => sum + (rewardWeights?.[k] ?? 1) * (components[name] ?? Number.NaN), 0);
}

export interface Task<R extends TaskRecord = TaskRecord> extends TaskFacts {
  /**
   * Checks one parsed JSONL value; throws a `BraidError` that names the field, what was expected and what it got. `line`:
   * where it is in its file, from 1.
   */
  parseRecord(value: unknown, line?: number): R;
  /** The parts of a record's prompt that somebody wrote; the rest is the prompt's template. */
  quoted(record: R): readonly string[];
  /** The functions that the model may call; absent: a task's records offer none. */
  tools?(record: R): readonly ChatTool[] | undefined;
  /** Whether records bring their own conversations, whose turns of the assistant can be trained on; absent: no. */
  readonly hasConversations?: boolean;
  /** The record with another template for its prompt, where the task has one that may be changed. */
  withPrompt?(record: R, template: string): R;
  /** The completion that would be perfect; supervised training fits it. Empty if the task has none. */
  target(record: R): string;
  /**
   * The rewards of completions, in order, keyed by `rewardNames`. `untilFailure`: after one that fails, the others may
   * count as failed without being looked at.
   */
  score(answers: readonly Answer<R>[], untilFailure?: boolean): readonly Score[];
  /** Measures of completions of held-out records, in order. */
  measure(answers: readonly Answer<R>[]): readonly TaskMetrics[];
  /** What answers the model between its turns; absent: a completion is one turn. */
  readonly environment?: Environment<R>;
  /** A metric that no reward uses: a reward that climbs while this doesn't is being gamed. null: the reward is exact. */
  readonly check: { readonly name: string; measure(answers: readonly Answer<R>[]): readonly number[] } | null;
  /**
   * The task fitted to these records (which words are rare among them). `similarity`, where given, measures how similar
   * two texts are in meaning. Returns the same task if neither applies.
   */
  fit(records: readonly R[], similarity?: TextSimilarity): Task<R>;
  /** What components took since the last call, as metrics; absent: the task has only one way to score. */
  takeMetrics?(): TaskMetrics;
  /** Ends what scoring has started. */
  close(): void;
}
