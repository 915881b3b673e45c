/** What a training task must say: how records are read, prompted, scored and measured. */

/** One line of a dataset of any task. */
export interface TaskRecord {
  readonly id: string;
  readonly prompt: string;
}

/** One completion's reward, by component. `NaN` in a component means that it does not apply. */
export type RewardComponents = Readonly<Record<string, number>>;

/** One scored completion in an evaluation: the main score plus whatever else the task measures. */
export type TaskMetrics = Readonly<Record<string, number>>;

/** How alike two texts are in meaning, 0 to 1. */
export type TextSimilarity = (a: string, b: string) => number;

export interface Task<R extends TaskRecord = TaskRecord> {
  readonly name: string;
  /** Reward functions in a fixed order; the trainer weights and sums them. */
  readonly rewardNames: readonly string[];
  /** The weights of a run that names none; null: all 1. */
  readonly rewardWeights: readonly number[] | null;
  /** The sum of rewards that a perfect completion gets, or null where there is no highest one. */
  readonly highestReward: number | null;
  /** Checks one parsed JSONL value; throws `BraidError` naming the field, what was expected and what came. */
  parseRecord(value: unknown): R;
  /** The completion that would be perfect; supervised training fits it, and completion lengths come from it. */
  reference(record: R): string;
  /** The rewards of one completion, keyed by `rewardNames`. */
  reward(record: R, completion: string): RewardComponents;
  /** Measures of one completion on held-out data; `mainMetric` is one of them. */
  measure(record: R, completion: string): TaskMetrics;
  readonly mainMetric: string;
  /** A measure that no reward looks at: a reward that climbs while this doesn't is being gamed. null: the reward is exact. */
  readonly check: { readonly name: string; measure(record: R, completion: string): number } | null;
  /**
   * The task as these records shape it: which words are rare among them. `similarity`, where given, tells how alike
   * two texts mean. The same task where neither shapes anything.
   */
  fit(records: readonly R[], similarity?: TextSimilarity): Task<R>;
}
