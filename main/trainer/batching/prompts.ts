/** Records as token ids, and the completion length that they need. */
import { BraidError, inputError } from '../../errors.ts';
import { contextLength, type ModelConfig } from '../../model/config.ts';
import { answerTokens, turnsOf } from '../../model/conversation-tokens.ts';
import { plain } from '../../model/jinja/text.ts';
import { encodeOpenPrompt } from '../../model/opening.ts';
import type { PromptGroup } from '../../model/pack.ts';
import { encodePrompt, endTokens, type Tokenizer } from '../../model/tokenizer.ts';
import { describedTools } from '../../model/tool-prompt.ts';
import { answerOf, askedOf, type ChatMessage, shownText } from '../../samples/chat-message.ts';
import { promptMessages } from '../../tasks/folder/environment.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { type Quoting, quotingOf } from '../../text/quoted-tokens.ts';
import { countWords } from '../../text/words.ts';
import type { TrainConfig } from '../config/config.ts';

export interface TokenRecord {
  readonly record: TaskRecord;
  /** What the model is asked, where the chat settings' system prompt stands in it; absent: what the record says. */
  readonly asked?: readonly ChatMessage[];
  readonly promptIds: readonly number[];
  /** The reference completion with its end token. */
  readonly targetIds: readonly number[];
  /** What supervised training fits, where that isn't the target alone: every turn of the assistant. */
  readonly lessons?: readonly PromptGroup[];
  /** The control tokens that its texts quote, if any; they are encoded as characters. */
  readonly controlTokens?: readonly string[];
}

/** Encodes every record's prompt and reference completion for a model. `everyTurn`: with the lessons of conversations. */
export function encodeRecords(
  task: Task,
  tokenizer: Tokenizer,
  records: readonly TaskRecord[],
  model: Pick<ModelConfig, 'eosTokenIds' | 'vocabSize'>,
  everyTurn = false,
): readonly TokenRecord[] {
  const { replyPrompt } = tokenizer;
  const end = endToken(tokenizer, model.eosTokenIds);
  const ends = [end, ...endTokens(tokenizer, model.eosTokenIds)];
  return records.map((given) => {
    const record = replyPrompt === null ? given : (task.withPrompt?.(given, replyPrompt) ?? given);
    const quoted = task.quoted(record);
    const promptIds = promptTokens(tokenizer, task, record);
    if (promptIds.length === 0 && task.environment?.opens !== true) throw emptyPrompt(record);
    const target = task.target(record);
    const { messages = [] } = record;
    const isOwn = endsItself(task, record);
    const tools = task.tools?.(record);
    const turn = isOwn ? answerTokens(tokenizer, messages, tools, ends) : null;
    const targetIds = turn ?? [...tokenizer.encodeText(target), end];
    const isTalk = isOwn || (task.hasConversations === true && target === '' && hasAnswers(messages));
    const lessons = everyTurn && isTalk ? turnsOf(tokenizer, messages, tools, ends) : null;
    checkTokens([...promptIds, ...targetIds], tokenizer, model.vocabSize, `record ${record.id}`);
    const own = promptMessages(record);
    const asked = tokenizer.hasChatTemplate ? tokenizer.asked(own) : own;
    return {
      record,
      ...(asked !== own && { asked }),
      promptIds,
      targetIds,
      ...(lessons !== null && { lessons }),
      controlTokens: [...quoted, target].flatMap(tokenizer.controlTokens),
    };
  });
}

/** Whether the assistant speaks in a conversation, which somebody else may end. */
function hasAnswers(messages: readonly ChatMessage[]): boolean {
  return messages.some(({ role }, i) => i > 0 && role === 'assistant');
}

/** A completion's first token has nothing to depend on: the tokenizer writes none of its own before a text. */
function emptyPrompt({ id }: TaskRecord) {
  return inputError(
    'EMPTY_PROMPT',
    `record ${id}: its prompt is empty, and this model needs at least one token`,
    'Give the record a prompt, or leave it out.',
  );
}

/** Whether the target is the turn that ends the record's own conversation. */
export function endsItself(task: Task, { messages = [], ...record }: TaskRecord): boolean {
  const answer = answerOf(messages);
  return answer !== null && shownText(answer) === task.target({ ...record, messages });
}

/** Token ids of a record's prompt. */
export function promptTokens(tokenizer: Tokenizer, task: Task, record: TaskRecord): number[] {
  if (task.environment?.opens === true) return encodeOpenPrompt(tokenizer, promptMessages(record), task.quoted(record));
  const { prompt, messages, tools } = askedIn(tokenizer, task, record);
  return encodePrompt(tokenizer, prompt, task.quoted(record), messages, tools);
}

/** What a record asks. The task's own tools are described in it where the model has no chat template. */
function askedIn(tokenizer: Tokenizer, task: Task, record: TaskRecord) {
  const { prompt } = record;
  const messages = record.messages && askedOf(record.messages);
  const tools = task.tools?.(record);
  const isTold = task.environment?.hasTools !== true || tools === undefined || tokenizer.hasChatTemplate;
  return { prompt: isTold ? prompt : `${plain(describedTools(tools))}\n\n${prompt}`, messages, tools };
}

/** A record's prompt as text, with the chat template if the model has one. */
export function promptText(tokenizer: Tokenizer, task: Task, record: TaskRecord): string {
  const { prompt, messages = promptMessages(record), tools = null } = askedIn(tokenizer, task, record);
  return tokenizer.hasChatTemplate ? tokenizer.chat(messages, true, tools) : prompt;
}

/** What the texts of a run's records quote of the model's control tokens. */
export function recordsQuoting(sets: {
  readonly records: readonly TokenRecord[];
  readonly evalRecords: readonly TokenRecord[];
}): Quoting {
  return quotingOf([...sets.records, ...sets.evalRecords].map(({ controlTokens = [] }) => controlTokens));
}

/** The difficulty of each record, by which AdaRFT chooses: the words of its reference completion. */
export function difficultiesOf(task: Task, records: readonly TokenRecord[]): number[] {
  return records.map(({ record }) => countWords(task.target(record)));
}

/** Throws where a token has no row in the model's embedding: added tokens, and an embedding that was not resized. */
export function checkTokens(ids: readonly number[], tokenizer: Tokenizer, vocabSize: number, where: string): void {
  const foreign = ids.find((id) => id >= vocabSize);
  if (foreign === undefined) return;
  throw inputError(
    'TOKEN_WITHOUT_EMBEDDING',
    `${where}: expected token ids from 0 to ${vocabSize - 1}, the model's embedding, got ${foreign} (${JSON.stringify(tokenizer.token(foreign))})`,
    "The tokenizer has tokens that the model has not: resize the model's embedding (resize_token_embeddings in transformers), or use the tokenizer that the model was trained with.",
  );
}

/** The token that ends completions: the tokenizer's own, otherwise the first of the model's. */
export function endToken(tokenizer: Tokenizer, eosTokenIds: readonly number[]): number {
  const id = tokenizer.eosTokenId ?? eosTokenIds[0];
  if (id === undefined) {
    throw inputError(
      'NO_EOS',
      'Expected the model to define an end token ("eos_token_id" in config.json, "eos_token" in tokenizer_config.json), got none',
    );
  }
  return id;
}

/** Margin beyond the longest target, so that a slightly too long completion isn't cut off at once. */
export function margin(longest: number): number {
  return Math.max(4, Math.ceil(longest / 10));
}

/**
 * Maximum tokens of a completion: the configured number, otherwise the task's, otherwise the longest target with its end
 * token plus a margin.
 */
export function completionLength(
  records: readonly Pick<TokenRecord, 'targetIds'>[],
  config: Pick<TrainConfig, 'max_completion_length'>,
  task: Pick<Task, 'maxCompletionLength'>,
): number {
  const longest = longestTarget(records);
  const asked = config.max_completion_length ?? task.maxCompletionLength;
  if (asked === null && longest === 1)
    throw inputError(
      'NO_COMPLETION_LENGTH',
      'Expected "max_completion_length", as no record has a target to compute it from',
      'Set max_completion_length, in tokens.',
    );
  return asked ?? longest + margin(longest);
}

/** The longest target with its end token. */
export function longestTarget(records: readonly Pick<TokenRecord, 'targetIds'>[]): number {
  return records.reduce((most, { targetIds }) => Math.max(most, targetIds.length), 0);
}

/** Targets that a limit would cut off. */
export function targetsBeyond(records: readonly Pick<TokenRecord, 'targetIds'>[], limit: number): number {
  return records.filter(({ targetIds }) => targetIds.length > limit).length;
}

/** Throws where a limit doesn't hold the targets: for those that are learned, or that answers are measured by. */
export function checkHoldsTargets(records: readonly Pick<TokenRecord, 'targetIds'>[], limit: number): void {
  const longest = longestTarget(records);
  if (limit >= longest) return;
  throw new BraidError(
    'COMPLETION_TOO_SHORT',
    `Expected "max_completion_length" of at least ${longest} tokens (the longest target with its end token), got ${limit}`,
    {
      kind: 'input',
      remedy: 'Leave max_completion_length out to have it computed, or use a dataset with shorter targets.',
    },
  );
}

/** Throws where a record's prompt leaves too little of the model's context for a completion. */
export function checkContext(
  records: readonly TokenRecord[],
  limit: number,
  model: ModelConfig,
  { name }: Pick<Task, 'name'>,
): void {
  const context = contextLength(model);
  const longest = records.reduce<TokenRecord | null>(
    (most, next) => (most === null || next.promptIds.length > most.promptIds.length ? next : most),
    null,
  );
  if (longest === null || longest.promptIds.length + limit <= context) return;
  const tokens = longest.promptIds.length;
  const shorter =
    name === 'interleave' ? 'Use a shorter stage' : 'Shorten this record or leave it out, and others that are as long';
  throw inputError(
    'CONTEXT_TOO_SHORT',
    `record ${longest.record.id}: its prompt has ${tokens} tokens and a completion up to ${limit}, and the model's context holds ${context}`,
    `${shorter}, set a smaller max_completion_length, or use a model with a longer context.`,
  );
}

/** The longest prompt, in tokens. */
export function longestPrompt(records: readonly TokenRecord[]): number {
  return records.reduce((most, { promptIds }) => Math.max(most, promptIds.length), 0);
}
