/**
 * Completions whose reward failed: the function threw, took too long, or gave no number. `reward_failure` decides: stop
 * the run, count them as 0, or take nothing from their whole group. R rows, in groups of G.
 */
import { inputError } from '../../errors.ts';
import type { Answer } from '../../tasks/task.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Metrics } from '../protocol/trainer-events.ts';

/** Rewards [functions][R] with those of failed completions replaced; throws if the run shall stop. */
export function withFailures(
  rewards: readonly (readonly number[])[],
  failures: readonly (string | null)[],
  answers: readonly Answer[],
  { reward_failure: policy, num_generations: size }: Pick<TrainConfig, 'reward_failure' | 'num_generations'>,
): readonly (readonly number[])[] {
  const first = failures.findIndex((failure) => failure !== null);
  if (first < 0) return rewards;
  if (policy === 'stop') throw rewardFailed(failures[first] ?? '', answers[first]);
  if (policy === 'zero') return rewards.map((rows) => rows.map((value, row) => (failures[row] === null ? value : 0)));
  // Without a reward a completion has an advantage of 0.
  const skipped = new Set(failures.flatMap((failure, row) => (failure === null ? [] : [Math.floor(row / size)])));
  return rewards.map((rows) => rows.map((value, row) => (skipped.has(Math.floor(row / size)) ? Number.NaN : value)));
}

/** `reward_failures`: the share of completions whose reward failed; absent where none did. */
export function failureMetrics(failures: readonly (string | null)[]): Metrics {
  const failed = failures.filter((failure) => failure !== null).length;
  return failed === 0 ? {} : { reward_failures: failed / failures.length };
}

function rewardFailed(reason: string, answer: Answer | undefined) {
  return inputError(
    'REWARD_FAILED',
    `The reward failed on a completion of record ${answer?.record.id}: ${reason}. Checkpoints up to the last one are safe`,
    'If a server was to blame, resume the run once it answers again. Otherwise fix the reward and start a new run, from the last checkpoint if you like; or set reward_failure to zero or skip_group.',
  );
}
