/** What a run trains on, wherever it is computed: everything besides the model. */
import type { Tokenizer } from '../../model/tokenizer.ts';
import type { Task } from '../../tasks/task.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { RunConfig } from '../config/config.ts';
import type { MemoryDecision } from '../memory/decide.ts';
import type { TrainerStart } from '../protocol/start.ts';
import type { SampledLengths } from '../protocol/trainer-events.ts';

export interface Stage {
  readonly start: TrainerStart;
  /** With the activation memory that the run uses. */
  readonly config: RunConfig;
  /** null: the model isn't on this machine. */
  readonly memory: MemoryDecision | null;
  readonly task: Task;
  readonly tokenizer: Tokenizer;
  readonly records: readonly TokenRecord[];
  readonly evalRecords: readonly TokenRecord[];
  /** Tokens of a completion at most. */
  readonly maxCompletionLength: number;
  /** How far completions are tried before it is settled; absent: it is. */
  readonly trialLength?: number;
  /** What completions before the first step say of it; absent: none were sampled. */
  readonly sampled?: SampledLengths;
  decode(ids: readonly number[]): string;
  dispose(): void;
}

/** What completions that were sampled first settle; nothing where none were. */
export type SettledLengths = Partial<Pick<Stage, 'maxCompletionLength' | 'sampled'>>;
