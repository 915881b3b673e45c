/** The lines of a pre-flight report: what was observed, whether it matters, what to do. Pure. */

import type { DatasetLeakage } from '../../store/datasets.ts';
import { toolFindings, toolUse } from '../../tasks/tool-use.ts';
import { counted, formatBytes, formatDuration, formatStepTime } from '../../text/format.ts';
import { reaches } from '../../text/intervals.ts';
import { QUOTED_REMEDY, quotingInWords } from '../../text/quoted-tokens.ts';
import { UNWRITABLE_REMEDY, unwritableInWords } from '../../text/unwritable.ts';
import { evaluationsFrom, type TrainConfig } from '../../trainer/config/config.ts';
import type { LongestPass, PreflightResult } from '../../trainer/jobs/preflight.ts';
import { hasSignal, MANY_DEAD } from '../../trainer/monitor/collapse-rules.ts';
import { OUT_OF_REACH_REMEDY } from '../../trainer/stage/writable.ts';
import { type Check, fail, ok, warn } from '../doctor/check.ts';
import type { Promotion } from '../runs/promotion.ts';
import { checkpointBytes, checkpointCount } from './checkpoint-disk.ts';
import { sampledRewards, startAdvice } from './start-advice.ts';

export interface Machine {
  readonly freeMemory: number;
  readonly memory: number;
  /** Of the workspace's disk; null if unknown. */
  readonly freeDisk: number | null;
  /** Names of active runs. */
  readonly training: readonly string[];
}

/** The line on what the tokenizer can't write. */
const WORDS_CHECK = 'Words';

/** A spread within groups below this is a weak signal where the maximum isn't known. */
const LITTLE_SPREAD = 0.02;
/** Completions of a group are alike up to this share of different ones. */
const ALIKE = 0.5;
const LONG_HOURS = 8;
/** Disk space reserved for everything else. */
const DISK_RESERVE = 2 ** 30;

/** All lines, the most important first. */
export function preflightChecks(
  result: PreflightResult,
  config: TrainConfig,
  rule: Promotion | null,
  machine: Machine,
  leakage: DatasetLeakage | null = null,
): Check[] {
  return [
    ...(result.samples.length === 0 ? [] : [checkRewards(result, config), checkEnds(result, config)]),
    ...checkTools(result, config),
    checkHeldOut(result, config, rule),
    ...(leakage === null ? [] : checkLeakage(leakage, config.task)),
    ...checkQuoting(result),
    ...checkWriting(result, config),
    ...result.unusedChat.map(({ message, remedy }) => warn('Chat settings', message, remedy)),
    ...checkMemory(result, machine),
    ...checkEngine(result, config),
    checkTime(result, config),
    checkDisk(result, config, machine),
    ...(machine.training.length === 0 ? [] : [checkRoom(machine)]),
  ];
}

function checkRewards(result: PreflightResult, config: TrainConfig): Check {
  const { samples, highestReward } = result;
  const { method, reward_weights, warm_up_steps } = config;
  const name = 'Rewards differ';
  const rewards = sampledRewards(result);
  if (rewards === null)
    return fail(
      name,
      `The reward failed on all ${counted(samples.length, 'completion')}: ${samples[0]?.failure ?? 'none has a number'}`,
      'Fix the reward first.',
    );
  const { groups, spread, isSolved } = rewards;
  const dead = groups - rewards.differing;
  const seen = `reward ${rewards.reward.toFixed(3)}, spread within groups ${spread.toFixed(3)}, ${dead} of ${counted(groups, 'group')} dead`;
  if (isSolved) return warn(name, `${seen}: the model can already do this`, 'Continue with harder records.');
  // There, a group of equal rewards teaches by its diversity, unless its mean is 0.
  if (method === 'polychromic-grpo' && rewards.reward !== 0) return ok(name, seen);
  if (reward_weights?.every((weight) => weight === 0))
    return fail(name, `All reward_weights are 0, so ${seen}`, 'Give at least one component another weight.');
  // What GRPO will sample isn't known before that.
  if (warm_up_steps > 0) return ok(name, `${seen}, before the warm-up`);
  const warmUp =
    startAdvice(result, config)?.do === 'warm_up' ? 'Warm the model up on the targets first (warm_up_steps).' : null;
  if (dead === groups)
    return fail(
      name,
      `All ${rewards.size} completions get the same reward in each of ${groups} groups, so there is no training signal`,
      warmUp ?? deadRemedy(samples),
    );
  // As the watch over the run does: otherwise enough is learned from the others, and more as rare successes are learned.
  if (dead >= MANY_DEAD * groups && !hasSignal(spread, highestReward))
    return warn(
      name,
      seen,
      warmUp ??
        "Most groups give no training signal yet. If rewards don't rise in the first steps, raise num_generations, let the reward count what is partly right, or train on easier records first.",
    );
  const isWeak = highestReward === null ? spread < LITTLE_SPREAD : !hasSignal(spread, highestReward);
  if (isWeak) return warn(name, seen, warmUp ?? `The training signal is weak: ${moreSignal(samples)}.`);
  return warmUp === null ? ok(name, seen) : warn(name, seen, warmUp);
}

/** What makes rewards differ: where completions are alike, others of them; otherwise a reward that tells them apart. */
function moreSignal(samples: PreflightResult['samples']): string {
  const groups = [...Map.groupBy(samples, ({ group }) => group).values()];
  const alike = groups.filter(
    (group) => new Set(group.map(({ completion }) => completion)).size <= ALIKE * group.length,
  );
  if (2 * alike.length > groups.length) return 'completions are alike, so raise the temperature or num_generations';
  return 'completions differ, so let the reward count what is partly right, or raise num_generations';
}

function deadRemedy(samples: PreflightResult['samples']): string {
  const what = moreSignal(samples);
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}, or train on easier records first and start from that checkpoint.`;
}

function checkEnds(result: PreflightResult, { warm_up_steps }: TrainConfig): Check {
  const { samples, maxCompletionLength: limit, longestTarget, longerTargets, targets } = result;
  const name = 'Completions end';
  const cut = samples.filter(({ terminated }) => !terminated).length;
  const isShort = longerTargets > 0;
  const longer = `${counted(longerTargets, 'target')} ${longerTargets === 1 ? 'has' : 'have'} more`;
  const targetsToo = isShort ? `; ${longer}, the longest ${longestTarget}` : '';
  const seen = `${samples.length - cut} of ${samples.length} ended within ${limit} tokens${targetsToo}`;
  const raise = `raise max_completion_length (now ${limit})`;
  if (2 * cut > samples.length) {
    const isCold = targets > 0 && warm_up_steps === 0;
    const warmUp = isCold ? 'warm the model up on the targets (warm_up_steps), which teaches it to end, or ' : '';
    const next = `Most are cut off: ${warmUp}${raise}, or ask for a shorter answer in the prompt.`;
    return warn(name, seen, next);
  }
  return isShort ? warn(name, seen, `If an answer needs that many, ${raise}.`) : ok(name, seen);
}

/** What the model makes of the task's tools before it is trained. */
function checkTools({ samples, tools }: PreflightResult, { warm_up_steps, method }: TrainConfig): Check[] {
  if (tools.length === 0 || samples.length === 0) return [];
  const name = 'Tools';
  const conversations = samples.map(({ messages = [] }) => messages);
  const findings = toolFindings(tools, conversations);
  const { calls } = toolUse(tools, conversations);
  const seen = `${counted(calls, 'call')} in ${counted(samples.length, 'completion')}`;
  if (findings.length === 0) return [ok(name, seen)];
  // What it will call isn't known before that.
  if (warm_up_steps > 0 && method === 'grpo') return [ok(name, `${seen}, before the warm-up`)];
  const next =
    calls === 0
      ? 'Use a model that calls tools, name them in the prompt, or show it calls first: a target with a call, and warm_up_steps.'
      : "Read the samples: a tool's description, its parameters or the function itself may be wrong.";
  return [warn(name, `${seen}. ${findings.join(' ')}`, next)];
}

function checkHeldOut({ heldOut }: PreflightResult, { eval_steps }: TrainConfig, rule: Promotion | null): Check {
  const name = 'Held-out score';
  if (heldOut === null) {
    const next =
      rule === null ? 'Generate the dataset with test records.' : 'Its rule can never be met: generate test records.';
    return warn(name, 'no held-out records: the run will have neither a baseline nor a score', next);
  }
  const seen = `${heldOut.mean.toFixed(3)} now, on ${counted(heldOut.n, 'prompt')}`;
  if (rule !== null && eval_steps === 0)
    return warn(name, seen, 'Its rule can never be met: set eval_steps to more than 0.');
  if (rule === null) return ok(name, seen);
  if (reaches(heldOut.mean, rule.at_least))
    return warn(
      name,
      `${seen}; the rule requires ${rule.at_least}`,
      'It meets its rule before it is trained: count it as met, and go to the next stage.',
    );
  return ok(name, `${seen}; the rule requires ${rule.at_least}`);
}

/** A held-out score over records that training saw measures memory. */
function checkLeakage({ titles, pairs }: DatasetLeakage, task: string): Check[] {
  if (titles === 0 && pairs === 0) return [];
  const isMade = task === 'interleave';
  const [text, item] = isMade ? ['text', 'pair'] : ['prompt', 'record'];
  const seen = [
    ...(titles > 0 ? [`${counted(titles, `${text} is`, `${text}s are`)} in training and test`] : []),
    ...(pairs > 0
      ? [`${pairs} test ${pairs === 1 ? `${item} repeats` : `${item}s repeat`} words of training ${item}s`]
      : []),
  ].join(', ');
  const remedy = isMade
    ? 'remove texts that repeat one another, then make the dataset again.'
    : 'remove these records from one side, then import the dataset again.';
  const next = `The held-out score will be too high: ${remedy}`;
  return [warn('Held-out records', seen, next)];
}

/** Texts that quote control tokens come from logs of chats more often than from people. */
function checkQuoting({ quoting }: PreflightResult): Check[] {
  const seen = quotingInWords(quoting);
  return seen === null
    ? []
    : [warn('Control tokens', `${seen}, which this model uses to structure a chat`, QUOTED_REMEDY)];
}

/** What the tokenizer can't write, which no training changes. */
function checkWriting({ unwritable, outOfReach }: PreflightResult, config: TrainConfig): Check[] {
  const seen = unwritableInWords(unwritable);
  if (outOfReach === null) return seen === null ? [] : [warn(WORDS_CHECK, seen, UNWRITABLE_REMEDY)];
  if (config.allow_unwritable_words) return [warn(WORDS_CHECK, outOfReach, 'allow_unwritable_words is true.')];
  return [fail(WORDS_CHECK, outOfReach, OUT_OF_REACH_REMEDY)];
}

function checkMemory({ estimate, longest }: PreflightResult, { freeMemory, memory }: Machine): Check[] {
  const name = 'Memory';
  if (longest === null) return [];
  const needed = Math.max(estimate.memoryBytes, longest.peakBytes);
  const parts = longest.parts === 1 ? '' : `, a micro-batch in ${longest.parts} parts`;
  const seen = `${formatBytes(needed)} with the longest prompt (${counted(longest.promptTokens, 'token')} and ${longest.completionTokens} new ones${parts}), ${formatBytes(freeMemory)} free`;
  const next = 'Use a smaller per_device_train_batch_size or activation_memory_mb, LoRA, or a smaller model.';
  const ofGpu = checkGpuMemory(longest, estimate);
  if (needed > memory) return [fail(name, seen, next), ...ofGpu];
  return [needed > freeMemory ? warn(name, seen, `Close other programs. ${next}`) : ok(name, seen), ...ofGpu];
}

/** A pass that got here has found room, as what doesn't fit is refused; the optimiser's state comes later. */
function checkGpuMemory({ gpu }: LongestPass, { gpuBytes = 0 }: PreflightResult['estimate']): Check[] {
  if (gpu === null) return [];
  const needed = Math.max(gpu.peakBytes, gpuBytes);
  const limit = gpu.memory === null ? '' : ` of ${formatBytes(gpu.memory.bytes)} (${gpu.memory.source})`;
  const seen = `${formatBytes(needed)} at most${limit}`;
  if (needed <= (gpu.memory?.bytes ?? needed)) return [ok('GPU memory', seen)];
  const next =
    'End other programs that use the GPU, or use base_weights int8 or nf4, or a smaller activation_memory_mb.';
  return [warn('GPU memory', seen, next)];
}

/** A difference in nats above which the sampler isn't the trainer any more. */
const FAR_SAMPLER = 0.05;

/** What a step on the engine takes, and whether its sampler and its trainer agree. */
function checkEngine({ remote }: PreflightResult, { max_steps }: TrainConfig): Check[] {
  if (remote === null) return [];
  const { engine, metrics } = remote;
  const figure = (name: string): number => metrics[`engine/${name}`] ?? 0;
  const tokens = figure('prefill_tokens') + figure('sample_tokens') + figure('train_tokens');
  const cost = metrics['engine/cost'];
  const seen = [
    `${Math.round(tokens)} tokens a step`,
    `${formatStepTime(figure('compute_seconds'))} of work, ${formatStepTime(figure('network_seconds'))} of network`,
    ...(cost === undefined ? [] : [`${(cost * max_steps).toPrecision(3)} for all ${max_steps} steps at its price`]),
  ].join(', ');
  const difference = metrics['sampling/sampling_logp_difference/mean'];
  const lines = [ok(`Engine ${engine}`, seen)];
  if (difference === undefined) return lines;
  const apart = `sampler and trainer differ by ${difference.toPrecision(2)} nats a token`;
  if (difference <= FAR_SAMPLER) return [...lines, ok('Sampler', apart)];
  return [...lines, warn('Sampler', apart, 'Set vllm_importance_sampling_correction to true.')];
}

function checkTime({ estimate, heldOut }: PreflightResult, config: TrainConfig): Check {
  const evaluations = heldOut === null ? 0 : evaluationsFrom(0, config);
  const { seconds } = estimate;
  const { limitSecondsPerStep: limit } = estimate;
  const most = limit === undefined ? '' : ` (${formatStepTime(limit)} where completions reach their limit)`;
  const warmUp =
    estimate.warmUpSecondsPerStep === undefined
      ? ''
      : `${config.warm_up_steps} of the warm-up of ${formatStepTime(estimate.warmUpSecondsPerStep)}, `;
  const seen = `about ${formatDuration(seconds)}: ${warmUp}${counted(config.max_steps, 'step')} of ${formatStepTime(estimate.secondsPerStep)}${most}, ${counted(evaluations, 'evaluation')}`;
  if (seconds <= LONG_HOURS * 3600) return ok('Time', seen);
  const shorter = config.task === 'interleave' ? 'a shorter stage' : 'a smaller max_completion_length';
  return warn('Time', seen, `Use fewer steps, a smaller batch or ${shorter}; a run can be paused and resumed.`);
}

function checkDisk(result: PreflightResult, config: TrainConfig, { freeDisk }: Machine): Check {
  const checkpoints = checkpointCount(config);
  const needed = checkpointBytes(result.trainable, config);
  const seen = `${formatBytes(needed)} for at most ${counted(checkpoints, 'checkpoint')}`;
  if (freeDisk === null) return ok('Disk', seen);
  const line = `${seen}, ${formatBytes(freeDisk)} free`;
  const next = 'Free space, or keep fewer checkpoints (save_total_limit).';
  if (needed > freeDisk) return fail('Disk', line, next);
  return needed + DISK_RESERVE > freeDisk ? warn('Disk', line, next) : ok('Disk', line);
}

function checkRoom({ training }: Machine): Check {
  const seen = `${training.join(', ')} ${training.length === 1 ? 'is' : 'are'} training, which slowed this check down`;
  return warn('Room', seen, 'A stage can be queued, and starts when there is room; otherwise wait until it ends.');
}
