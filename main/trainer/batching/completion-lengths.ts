/** How long completions may get where nobody has set it and targets don't say: from a few that were sampled. Pure. */
import type { Task } from '../../tasks/task.ts';
import { isReinforcement, learnsTargets, type TrainConfig } from '../config/config.ts';
import type { SampledLengths } from '../protocol/trainer-events.ts';
import { margin } from './prompts.ts';

/** A completion that was sampled to see how long it gets. */
export interface Tried {
  readonly tokens: number;
  /** Whether it ended by itself. */
  readonly ended: boolean;
}

/** A larger share that is cut off is a reason to raise the limit. */
const FEW_CUT = 0.25;
/** Of those that end, the share that the limit holds. */
const HELD = 0.9;
/** Tokens beyond the targets' limit: room for an answer in other words than its target's, however short that is. */
const LEAST_ROOM = 256;
const MOST_ROOM = 512;

/**
 * Whether completions decide: a target that is only shown, or one way to be right among several, says little of them. Where
 * completions are compared with it word by word, or it is learned first, its length is theirs.
 */
export function isLimitOpen(
  config: Pick<TrainConfig, 'max_completion_length' | 'method' | 'warm_up_steps'>,
  { maxCompletionLength, show }: Pick<Task, 'maxCompletionLength' | 'show'>,
): boolean {
  const isGiven = (config.max_completion_length ?? maxCompletionLength) !== null;
  return !isGiven && isReinforcement(config.method) && !learnsTargets(config) && show !== 'aligned';
}

/** The tokens up to which completions are tried; `most`: what the model's context leaves. */
export function trialLength(limit: number, most: number): number {
  return Math.max(limit, Math.min(most, limit + Math.min(MOST_ROOM, Math.max(LEAST_ROOM, limit))));
}

/** The limit: the targets', or one that holds nearly all completions, if it cuts off many and most of them do end. */
export function chooseLimit(tried: readonly Tried[], targets: number): number {
  const { completions, cut } = lengthsAt(targets, tried);
  const ended = tried.flatMap(({ tokens, ended }) => (ended ? [tokens] : [])).sort((a, b) => a - b);
  if (cut <= FEW_CUT * completions || 2 * ended.length < completions) return targets;
  const held = ended[Math.ceil(HELD * ended.length) - 1] ?? targets;
  return Math.max(targets, held + margin(held));
}

/** What a limit would make of completions that were tried beyond it. */
export function lengthsAt(limit: number, tried: readonly Tried[]): SampledLengths {
  return {
    completions: tried.length,
    cut: tried.filter(({ tokens, ended }) => tokens > limit || !ended).length,
    tokens: tried.reduce((sum, { tokens }) => sum + Math.min(tokens, limit), 0) / Math.max(1, tried.length),
  };
}
