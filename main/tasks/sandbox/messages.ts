/** What the trainer's thread and the reward's thread say to each other. Posted and received synchronously. */
import type { ReplyLine } from '../sync-thread.ts';
import type { Answer, EnvironmentStep, EnvironmentTurn } from '../task.ts';

/** Limits of one call. */
export interface RewardLimits {
  readonly timeMs: number;
  readonly memoryMb: number;
}

/** A reward as it is sent to its thread. */
export interface RewardProgram {
  /** Its name in messages; by default reward.ts. */
  readonly file?: string;
  /** The text of the file. */
  readonly text: string;
  /** The components that it has to give. */
  readonly components: readonly string[];
  /** Whether it has to export `check`. */
  readonly hasCheck: boolean;
  /** Whether it is an environment: then `step` gives the components, otherwise `reward`. */
  readonly hasStep?: boolean;
  readonly limits: RewardLimits;
}

/** `programs`: the thread is for programs that a model wrote, within these limits; absent: for a reward. */
export interface RewardWorkerData extends ReplyLine {
  readonly programs?: RewardLimits;
}

/** A program that a model wrote, and what is evaluated after it. */
export interface ProgramCall {
  readonly program: string;
  readonly expressions: readonly string[];
  /** Of the program, and of each expression. */
  readonly partMs: number;
}

/** What an expression gave: its value as JSON, or neither for one that has none, or why it failed. */
export interface CallOutcome {
  readonly json?: string;
  readonly error?: string;
}

export type ProgramReply =
  | { readonly kind: 'ready' }
  /** The program's time begins. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'outcome'; readonly outcome: CallOutcome };

/** The characters of JSON that a reward can read within its memory: `[[],[]]` takes 100 bytes for three of them. */
export function resultLength({ memoryMb }: RewardLimits): number {
  return memoryMb * 4096;
}

/** The name of the file, for messages. */
export const REWARD_FILE = 'reward.ts';

/** Beyond the limit of a call: what loading reward.ts may take on a busy machine. */
export const LOAD_MS = 1000;

export type RewardFunction = 'reward' | 'check' | 'step';

/** The first one loads the program; a thread has one. */
export type RewardRequest = { readonly call: 'load'; readonly program: RewardProgram } | RewardBatch;

export type RewardBatch =
  | { readonly call: 'reward' | 'check'; readonly inputs: readonly Answer[]; readonly untilFailure: boolean }
  | { readonly call: 'step'; readonly inputs: readonly EnvironmentTurn[] };

/** Numbers in the order of the components (of `check`: one), a step, or why there are none. */
export type RewardReply =
  | { readonly kind: 'ready' }
  /** It waits for a thread beside it. */
  | { readonly kind: 'alive' }
  /** The program can't run. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  | { readonly kind: 'step'; readonly step: EnvironmentStep }
  | { readonly kind: 'failure'; readonly reason: string };
