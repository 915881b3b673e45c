/** The records of a run as token ids, by the tokenizer of its model. */
import { inputError } from '../../errors.ts';
import { contextLength, readModelConfig } from '../../model/config.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import { answerOf } from '../../samples/chat-message.ts';
import type { Task } from '../../tasks/task.ts';
import { isLimitOpen, trialLength } from '../batching/completion-lengths.ts';
import {
  checkContext,
  checkHoldsTargets,
  completionLength,
  encodeRecords,
  endsItself,
  longestPrompt,
  type TokenRecord,
} from '../batching/prompts.ts';
import { isReinforcement, learnsTargets, type TrainConfig } from '../config/config.ts';
import { recordedLimit } from '../memory/recorded-limit.ts';
import type { TrainerStart } from '../protocol/start.ts';
import type { Stage } from './stage.ts';

/** The records of a run as token ids. */
export type SessionTokens = Pick<
  Stage,
  'tokenizer' | 'records' | 'evalRecords' | 'maxCompletionLength' | 'trialLength'
>;

/** Tokenises a run's records with the model folder's tokenizer. */
export function encodeStart(
  start: Pick<TrainerStart, 'config' | 'modelFolder' | 'records' | 'evalRecords'> &
    Partial<Pick<TrainerStart, 'resumeFrom'>>,
  task: Task,
): SessionTokens {
  const tokenizer = loadTokenizer(start.modelFolder, start.config);
  if (start.config.system_prompt !== null && !tokenizer.hasChatTemplate)
    throw inputError(
      'NO_CHAT_TEMPLATE',
      `${start.modelFolder}: expected a chat template for "system_prompt", the model has none`,
      'Leave system_prompt out, or use a chat model.',
    );
  const fault = tokenizer.checkChat().find(({ kind }) => kind === 'fault');
  // A resumed run continues as it started.
  if (fault !== undefined && (start.resumeFrom ?? null) === null)
    throw inputError('BAD_CHAT_SETTINGS', fault.message, fault.remedy);
  const model = readModelConfig(start.modelFolder);
  const everyTurn = start.config.assistant_only_loss && learnsTargets(start.config);
  const records = encodeRecords(task, tokenizer, start.records, model, everyTurn);
  const evalRecords = encodeRecords(task, tokenizer, start.evalRecords, model);
  if (records.length === 0) throw inputError('EMPTY_DATASET', 'Expected at least one record to train on, got none');
  if (learnsTargets(start.config)) {
    checkTargets(task, records, start.config);
    checkTrained(task, records, everyTurn);
  }
  const all = [...records, ...evalRecords];
  const recorded = recordedLimit(start.resumeFrom ?? null);
  const maxCompletionLength = recorded ?? completionLength(all, start.config, task);
  if (learnsTargets(start.config)) checkHoldsTargets(all, maxCompletionLength);
  checkContext(all, maxCompletionLength, model, task);
  const isOpen = recorded === null && isLimitOpen(start.config, task);
  const room = contextLength(model) - longestPrompt(all);
  return {
    tokenizer,
    records,
    evalRecords,
    maxCompletionLength,
    ...(isOpen && { trialLength: trialLength(maxCompletionLength, room) }),
  };
}

/** Throws where a record has nothing to fine-tune on. */
function checkTargets(task: Task, records: readonly TokenRecord[], { method, ...config }: TrainConfig): void {
  const untargeted = records.find(({ record, lessons }) => lessons === undefined && task.target(record) === '');
  if (untargeted === undefined) return;
  const isWarmUp = isReinforcement(method);
  const without = isWarmUp ? 'set warm_up_steps to 0' : 'use the method grpo';
  const wanted = isWarmUp ? 'warm_up_steps' : `method ${method}`;
  const { record } = untargeted;
  const others = records.some((other) => task.target(other.record) !== '');
  throw task.hasConversations === true
    ? inputError(
        'NO_TARGET',
        `Expected an answer of the assistant to fine-tune on with ${wanted}, but somebody else's turn ends record ${record.id}`,
        config.assistant_only_loss
          ? `Leave the record out, or ${without}.`
          : `Set assistant_only_loss, which trains the turns before, leave the record out, or ${without}.`,
      )
    : inputError(
        'NO_TARGET',
        `Expected a target to fine-tune on with ${wanted}, record ${record.id} has none`,
        `${others ? 'Leave the record out, and others without one' : 'Give the task a "target"'}, or ${without}.`,
      );
}

/** Throws where a record's conversation says of all turns that would be trained on that they aren't to be. */
function checkTrained(task: Task, records: readonly TokenRecord[], everyTurn: boolean): void {
  const untrained = records.find(({ record, lessons }) =>
    lessons === undefined
      ? endsItself(task, record) && answerOf(record.messages ?? [])?.weight === 0
      : lessons.length === 0,
  );
  if (untrained === undefined) return;
  throw inputError(
    'NO_TARGET',
    `Record ${untrained.record.id} has "weight": 0 at ${everyTurn ? 'every turn' : 'the last turn'} of the assistant, so nothing of it would be trained on`,
    everyTurn
      ? 'Leave the record out.'
      : 'Set assistant_only_loss, which trains its other turns, or leave the record out.',
  );
}
