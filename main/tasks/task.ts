/** The interface of a training task: how records are read, prompted, scored and measured. */

/** One line of a dataset of any task. */
export interface TaskRecord {
  readonly id: string;
  readonly prompt: string;
}

/** One completion's reward, by component. `NaN` in a component means that it does not apply. */
export type RewardComponents = Readonly<Record<string, number>>;

/** One scored completion in an evaluation: the main score plus the task's other metrics. */
export type TaskMetrics = Readonly<Record<string, number>>;

/** Semantic similarity of two texts, 0 to 1. */
export type TextSimilarity = (a: string, b: string) => number;

export interface Task<R extends TaskRecord = TaskRecord> {
  readonly name: string;
  /** Reward functions in a fixed order; the trainer weights and sums them. */
  readonly rewardNames: readonly string[];
  /** Default weights; null: all 1. */
  readonly rewardWeights: readonly number[] | null;
  /** The total reward of a perfect completion, or null if there is no maximum. */
  readonly highestReward: number | null;
  /** Checks one parsed JSONL value; throws a `BraidError` that names the field, what was expected and what it got. */
  parseRecord(value: unknown): R;
  /** The parts of a record's prompt that somebody wrote; the rest is the prompt's template. */
  quoted(record: R): readonly string[];
  /** The completion that would be perfect; supervised training fits it, and completion lengths come from it. */
  reference(record: R): string;
  /** The rewards of one completion, keyed by `rewardNames`. */
  reward(record: R, completion: string): RewardComponents;
  /** Measures of one completion on held-out data; `mainMetric` is one of them. */
  measure(record: R, completion: string): TaskMetrics;
  readonly mainMetric: string;
  /** A metric that no reward uses: a reward that climbs while this doesn't is being gamed. null: the reward is exact. */
  readonly check: { readonly name: string; measure(record: R, completion: string): number } | null;
  /**
   * The task fitted to these records (which words are rare among them). `similarity`, where given, measures how similar
   * two texts are in meaning. Returns the same task if neither applies.
   */
  fit(records: readonly R[], similarity?: TextSimilarity): Task<R>;
}
