/**
 * Completions to try a reward on: JSONL, each line a record with what somebody or a model answered.
 * `{"record": {…}, "completion": "…"}`, or the record's own fields beside `completion`; `completions` is a list of answers
 * to one record; of a task with an environment, `messages` is the conversation in place of `completion`. Optional: `tokens`, `finish` ("stop" or "length"), and `reward`, which the answer should get.
 */
import { inputError } from '../../errors.ts';
import { readJsonLines } from '../../io/json-lines.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import { ConversationFault, readTurns } from '../../tasks/folder/conversation.ts';
import { ownText } from '../../tasks/folder/environment.ts';
import type { NamedGroup } from '../../tasks/groups.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { splitWords } from '../../text/words.ts';

/** One completion of the file. */
export interface GivenAnswer extends NamedGroup {
  readonly line: number;
  /** What the file says that it should get: the weighted sum, or some components. */
  readonly expected: number | Readonly<Record<string, number>> | null;
}

const WORDS = {
  code: 'BAD_COMPLETIONS',
  give: 'Give a JSONL file; docs/tasks.md describes its lines.',
  fix: 'Fix these lines.',
  item: 'completion',
};

/** Reads a file of completions; errors list every invalid line. `most`: bytes of the file. */
export function readCompletions(file: string, task: Task, most?: number): GivenAnswer[] {
  return readJsonLines(file, WORDS, (value, line) => answersOf(value, line, task), most).flat();
}

function answersOf(value: unknown, line: number, task: Task): GivenAnswer[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw inputError('BAD_COMPLETIONS', 'expected an object with a record and a completion');
  const { completion, completions, tokens, finish, reward, record: given, ...others } = value as Line;
  // Beside a completion they are the record's own.
  const isOwn = given === undefined && task.environment === undefined && (completion ?? completions) !== undefined;
  const { messages: said, ...rest } = others;
  const messages = said === undefined || isOwn ? undefined : messagesOf(said);
  const whole = completion ?? (messages && ownText(messages));
  const texts = completions ?? (whole === undefined ? [] : [whole]);
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw inputError('BAD_COMPLETIONS', 'expected "completion", a text, or "completions", a list of texts');
  const fields = given ?? (isOwn ? others : rest);
  const record: TaskRecord = task.parseRecord(fields, line);
  // Two lines about the same record are answers of one group, whether or not it has an id.
  const { id: _, ...unnamed } = record;
  const group = hasId(fields) ? `id:${record.id}` : JSON.stringify(unnamed);
  return texts.map((text: string) => ({
    answer: {
      record,
      completion: text,
      tokens: typeof tokens === 'number' ? tokens : splitWords(text).length,
      finish: finish === 'length' ? 'length' : 'stop',
      ...(messages && { messages }),
    },
    line,
    group,
    expected: expectedOf(reward),
  }));
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly completions?: unknown;
}

/** The model's turns and what answered them, in any form that records have too. */
function messagesOf(value: unknown): readonly ChatMessage[] {
  if (!Array.isArray(value) || value.length === 0) throw inputError('BAD_COMPLETIONS', NO_TURNS);
  try {
    const messages = readTurns(value, 'messages');
    if (messages.some(({ role }) => role === 'system')) throw inputError('BAD_COMPLETIONS', NO_TURNS);
    return messages;
  } catch (error) {
    throw error instanceof ConversationFault ? inputError('BAD_COMPLETIONS', error.message) : error;
  }
}

const NO_TURNS =
  'expected "messages" to be what followed the prompt, a list of { role: assistant (the model), user or tool (the environment), content }';

function hasId(fields: unknown): boolean {
  return typeof fields === 'object' && fields !== null && 'id' in fields && fields.id !== undefined;
}

function expectedOf(reward: unknown): GivenAnswer['expected'] {
  if (reward === undefined) return null;
  if (typeof reward === 'number') return reward;
  const isObject = typeof reward === 'object' && reward !== null && !Array.isArray(reward);
  if (isObject && Object.values(reward).every((value) => typeof value === 'number'))
    return reward as Readonly<Record<string, number>>;
  throw inputError('BAD_COMPLETIONS', 'expected "reward" to be a number or numbers by component');
}
