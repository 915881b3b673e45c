/** What a training loop says and asks between two steps; a run's own (run/open-run-io.ts) reports, saves and evaluates. */
import type { SavedGeneration, ScoredGeneration } from '../batching/generation.ts';
import type { PromptState } from '../batching/prompt-stream.ts';
import type { EntropyControl } from '../losses/adaptive-entropy.ts';
import type { Phases } from '../monitor/phases.ts';
import type { GroupOutcome, Metrics, TrainerEvent } from '../protocol/trainer-events.ts';
import type { Control } from './control.ts';

export interface RunIo {
  /** The first step to do, from 0. */
  readonly firstStep: number;
  readonly control: Control;
  readonly phases: Phases;
  emit(event: TrainerEvent): void;
  addTokens(count: number): void;
  /** Groups that the step samples; reported with it. */
  addGroups(groups: readonly GroupOutcome[]): void;
  /** Whether the completions of this step (from 1) are stored. */
  keepsSamples(step: number): boolean;
  /** Which prompts the run had drawn before its first step. */
  readonly prompts: PromptState;
  /** Adaptive entropy control before the run's first step; null at its start. */
  readonly entropy: EntropyControl | null;
  /** Adaptive entropy control between two steps; saved in checkpoints. */
  holdEntropy(control: EntropyControl): void;
  /** The generation that the next steps still use, and the prompts drawn so far; saved in checkpoints. */
  holdGeneration(generation: ScoredGeneration | null, prompts: PromptState): void;
  restoreGeneration(restore: (saved: SavedGeneration) => Promise<ScoredGeneration>): Promise<ScoredGeneration | null>;
  /** Before the first step: evaluates the baseline, if the run has evaluations. */
  begin(): Promise<void>;
  /** Reports a step (from 1), watches for collapse, evaluates and saves when due. */
  endStep(step: number, metrics: Metrics): Promise<void>;
  /** Saves and reports the end of the run. */
  finish(step: number, stopped: boolean): Promise<void>;
}
