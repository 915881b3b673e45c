/** A run's inputs as another trainer takes them: prompts as text and ids, the completion length, the adapter's layers. */
import type { ChatFinding } from '../../model/chat-check.ts';
import { CHAT_SETTINGS, encodeChatSettings } from '../../model/chat-settings.ts';
import { readModelConfig } from '../../model/config.ts';
import { ownTargets } from '../../model/lora.ts';
import type { Task } from '../../tasks/task.ts';
import { promptText, type TokenRecord } from '../batching/prompts.ts';
import type { TrainConfig } from '../config/config.ts';
import type { TrainerStart } from '../protocol/start.ts';
import { encodeStart } from './encode-start.ts';

/** A record with its prompt as the model gets it. */
export interface PromptText {
  readonly record: TokenRecord['record'];
  /** Through the chat template, if the model has one. */
  readonly text: string;
  readonly ids: readonly number[];
  readonly target: string;
}

export interface PromptTexts {
  readonly train: readonly PromptText[];
  readonly test: readonly PromptText[];
  /** In tokens. */
  readonly maxCompletionLength: number;
  /** The linear layers that get an adapter, by the model's own names. */
  readonly targetModules: readonly string[];
  /** Chat settings that the model's chat template doesn't use. */
  readonly unusedChat: readonly Pick<ChatFinding, 'message' | 'remedy'>[];
}

/** Renders and encodes all prompts of a run; errors of model and records are found here. */
export function promptTexts(
  start: Pick<TrainerStart, 'config' | 'modelFolder' | 'records' | 'evalRecords'>,
  task: Task,
): PromptTexts {
  const { tokenizer, records, evalRecords, maxCompletionLength } = encodeStart(start, task);
  const textOf = ({ record, promptIds }: TokenRecord): PromptText => ({
    record,
    text: promptText(tokenizer, task, record),
    ids: promptIds,
    target: task.target(record),
  });
  const config = readModelConfig(start.modelFolder);
  return {
    train: records.map(textOf),
    test: evalRecords.map(textOf),
    maxCompletionLength,
    targetModules: ownTargets({ config }, start.config.lora_target_modules),
    unusedChat: tokenizer.checkChat(),
  };
}

/** The file that tells the reader of a checkpoint how to speak to it; null where there is nothing to say. */
export function chatSettingsFile(config: TrainConfig): { readonly name: string; readonly content: string } | null {
  const content = encodeChatSettings(config);
  return content === null ? null : { name: CHAT_SETTINGS, content };
}
