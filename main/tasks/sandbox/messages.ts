/** What the trainer's thread and the reward's thread say to each other. Posted and received synchronously. */
import type { MessagePort } from 'node:worker_threads';
import type { Answer } from '../task.ts';

/** Limits of one call. */
export interface RewardLimits {
  readonly timeMs: number;
  readonly memoryMb: number;
}

/** A reward as it is sent to its thread. */
export interface RewardProgram {
  /** The text of reward.ts. */
  readonly text: string;
  /** The components that it has to give. */
  readonly components: readonly string[];
  /** Whether it has to export `check`. */
  readonly hasCheck: boolean;
  readonly limits: RewardLimits;
}

export interface RewardWorkerData {
  readonly program: RewardProgram;
  readonly port: MessagePort;
  /** One Int32: how many replies were posted. The other thread sleeps on it. */
  readonly posted: SharedArrayBuffer;
}

/** The name of the file, for messages. */
export const REWARD_FILE = 'reward.ts';

/** Beyond the limit of a call: what loading reward.ts may take on a busy machine. */
export const LOAD_MS = 1000;

export type RewardFunction = 'reward' | 'check';

export interface RewardRequest {
  readonly call: RewardFunction;
  readonly answers: readonly Answer[];
}

/** Numbers in the order of the components (of `check`: one), or why there are none. */
export type RewardReply =
  | { readonly kind: 'ready' }
  /** The program can't run. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  | { readonly kind: 'failure'; readonly reason: string };
