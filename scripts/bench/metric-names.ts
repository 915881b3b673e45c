/** The metrics of a GRPO step, for synthetic histories. */
export const METRICS = [
  ...['reward', 'reward_std', 'rewards/alignment/mean', 'rewards/alignment/std', 'frac_reward_zero_std'],
  ...['groups/dead', 'groups/solved', 'groups/spread', 'loss', 'grad_norm', 'learning_rate', 'epoch', 'entropy'],
  ...['clip_ratio/low_mean', 'clip_ratio/low_min', 'clip_ratio/high_mean', 'clip_ratio/high_max', 'num_tokens'],
  ...['clip_ratio/region_mean', 'completions/mean_length', 'completions/min_length', 'completions/max_length'],
  ...['completions/clipped_ratio', 'completions/mean_terminated_length', 'completions/min_terminated_length'],
  ...['completions/max_terminated_length', 'completions/unique_ratio', 'completions/identical_groups'],
  ...['completions/repetition', 'tokens_per_second', 'memory_mb', 'time/rollout', 'time/reward', 'time/loss'],
  ...['time/optimizer', 'step_time'],
];
