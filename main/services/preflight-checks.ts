/** A pre-flight's findings as lines: what was seen, whether it matters, what to do. Pure. */
import { meanOf } from '../text/intervals.ts';
import type { TrainConfig } from '../trainer/config.ts';
import type { PreflightResult } from '../trainer/preflight-job.ts';
import { type Check, fail, formatBytes, ok, warn } from './doctor/check.ts';
import type { Promotion } from './promotion.ts';

export interface Machine {
  readonly freeMemory: number;
  readonly memory: number;
  /** Of the workspace's disk; null where the system doesn't tell. */
  readonly freeDisk: number | null;
  /** Names of runs at work. */
  readonly training: readonly string[];
}

/** A group whose rewards differ by less says nothing to learn from. */
const EQUAL = 1e-8;
/** A spread within groups below this is little to learn from. */
const LITTLE_SPREAD = 0.02;
const SOLVED_SHARE = 0.98;
const LONG_HOURS = 8;
/** Of the disk, left to everything else. */
const DISK_RESERVE = 2 ** 30;

/** All lines, the ones that decide most in front. */
export function preflightChecks(
  result: PreflightResult,
  config: TrainConfig,
  rule: Promotion | null,
  machine: Machine,
): Check[] {
  return [
    ...(result.samples.length === 0 ? [] : [checkRewards(result), checkEnds(result)]),
    checkHeldOut(result, config, rule),
    checkMemory(result, machine),
    checkTime(result, config),
    checkDisk(result, config, machine),
    ...(machine.training.length === 0 ? [] : [checkRoom(machine)]),
  ];
}

function checkRewards({ samples, highestReward }: PreflightResult): Check {
  const name = 'Rewards differ';
  const groups = rewardsByGroup(samples);
  const spreads = groups.map(spread);
  const dead = spreads.filter((value) => value <= EQUAL).length;
  const mean = meanOf(samples.map(({ reward }) => reward));
  const typical = meanOf(spreads);
  const seen = `reward ${mean.toFixed(3)}, spread within groups ${typical.toFixed(3)}, ${dead} of ${groups.length} groups dead`;
  const size = groups[0]?.length ?? 0;
  if (highestReward !== null && mean >= SOLVED_SHARE * highestReward)
    return warn(name, `${seen}: the model can do this already`, 'Go on to a longer stage.');
  if (dead === groups.length)
    return fail(
      name,
      `All ${size} completions earn the same in each of ${groups.length} groups, so there is nothing to learn from`,
      'Raise the temperature, or train a shorter stage first and start from its checkpoint.',
    );
  if (2 * dead > groups.length)
    return warn(name, seen, 'Most groups teach nothing: raise the temperature, or train a shorter stage first.');
  if (typical < LITTLE_SPREAD)
    return warn(name, seen, 'There is little to learn from: raise the temperature or num_generations.');
  return ok(name, seen);
}

/** The rewards of each group, in order. */
export function rewardsByGroup(samples: PreflightResult['samples']): readonly (readonly number[])[] {
  return [...Map.groupBy(samples, ({ group }) => group).values()].map((group) => group.map(({ reward }) => reward));
}

function checkEnds({ samples, maxCompletionLength }: PreflightResult): Check {
  const name = 'Completions end';
  const cut = samples.filter(({ terminated }) => !terminated).length;
  const seen = `${samples.length - cut} of ${samples.length} ended within ${maxCompletionLength} tokens`;
  if (2 * cut <= samples.length) return ok(name, seen);
  return warn(name, seen, 'Most are cut off: train a shorter stage first, or raise max_completion_length.');
}

function checkHeldOut({ heldOut }: PreflightResult, { eval_steps }: TrainConfig, rule: Promotion | null): Check {
  const name = 'Held-out score';
  if (heldOut === null) {
    const next =
      rule === null ? 'Make the dataset with test records.' : 'Its rule can never be met: make test records.';
    return warn(name, 'no held-out records: the run has neither baseline nor score', next);
  }
  const seen = `${heldOut.mean.toFixed(3)} now, on ${heldOut.n} prompts`;
  if (rule !== null && eval_steps === 0)
    return warn(name, seen, 'Its rule can never be met: set eval_steps to more than 0.');
  if (rule === null) return ok(name, seen);
  if (heldOut.mean >= rule.at_least)
    return warn(
      name,
      `${seen}; the rule asks for ${rule.at_least}`,
      'It meets its rule already: go on to a longer stage.',
    );
  return ok(name, `${seen}; the rule asks for ${rule.at_least}`);
}

function checkMemory({ estimate, longest }: PreflightResult, { freeMemory, memory }: Machine): Check {
  const name = 'Memory';
  const needed = Math.max(estimate.memoryBytes, longest.peakBytes);
  const parts = longest.parts === 1 ? '' : `, a micro-batch in ${longest.parts} parts`;
  const seen = `${formatBytes(needed)} with the longest prompt (${longest.promptTokens} tokens and ${longest.completionTokens} new ones${parts}), ${formatBytes(freeMemory)} free`;
  const next = 'Take a smaller per_device_train_batch_size or activation_memory_mb, LoRA, or a smaller model.';
  if (needed > memory) return fail(name, seen, next);
  return needed > freeMemory ? warn(name, seen, `Close other programs. ${next}`) : ok(name, seen);
}

function checkTime({ estimate, heldOut }: PreflightResult, config: TrainConfig): Check {
  const evaluations =
    config.eval_steps === 0 || heldOut === null ? 0 : 1 + Math.ceil(config.max_steps / config.eval_steps);
  const each = heldOut === null ? 0 : (heldOut.seconds * config.eval_records) / heldOut.n;
  const seconds = estimate.seconds + evaluations * each;
  const seen = `about ${inWords(seconds)}: ${config.max_steps} steps of ${estimate.secondsPerStep.toPrecision(2)} s, ${evaluations} evaluations`;
  if (seconds <= LONG_HOURS * 3600) return ok('Time', seen);
  return warn('Time', seen, 'Take fewer steps, a smaller batch or a shorter stage; it can be paused and resumed.');
}

/** A time that is only about right. */
export function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function checkDisk(result: PreflightResult, config: TrainConfig, { freeDisk }: Machine): Check {
  const checkpoints = (config.save_total_limit ?? Math.ceil(config.max_steps / config.save_steps)) + 1;
  // Weights and two moments, float32.
  const needed = checkpoints * result.trainable * 4 * 3;
  const seen = `${formatBytes(needed)} for at most ${checkpoints} checkpoints`;
  if (freeDisk === null) return ok('Disk', seen);
  const line = `${seen}, ${formatBytes(freeDisk)} free`;
  const next = 'Free space, or keep fewer checkpoints (save_total_limit).';
  if (needed > freeDisk) return fail('Disk', line, next);
  return needed + DISK_RESERVE > freeDisk ? warn('Disk', line, next) : ok('Disk', line);
}

function checkRoom({ training }: Machine): Check {
  const seen = `${training.join(', ')} ${training.length === 1 ? 'is' : 'are'} training, which slowed this check down`;
  return warn('Room', seen, 'Queue the stage: it starts when there is room.');
}

/** Standard deviation of a group's rewards. */
function spread(rewards: readonly number[]): number {
  const mean = meanOf(rewards);
  return Math.sqrt(meanOf(rewards.map((reward) => (reward - mean) ** 2)));
}
