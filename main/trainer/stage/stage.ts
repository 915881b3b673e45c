/** What a run trains on, wherever it is computed: everything besides the model. */
import type { Tokenizer } from '../../model/tokenizer.ts';
import type { Task } from '../../tasks/task.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { RunConfig } from '../config/config.ts';
import type { MemoryDecision } from '../memory/decide.ts';
import type { TrainerStart } from '../protocol/start.ts';

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
  readonly maxCompletionLength: number;
  decode(ids: readonly number[]): string;
  dispose(): void;
}
