/** Which columns of a table make a conversation: one that is whole, or a prompt and its answer, and what stands beside them. */
import {
  COMPLETION_NAMES,
  CONVERSATION_NAMES,
  ConversationFault,
  isConversation,
  isSystemText,
  RESPONSES,
  readConversation,
} from '../../../tasks/folder/conversation.ts';
import { isMessage } from '../../../tasks/folder/message-forms.ts';
import { isEarlierName, isSystemName, pairsOf } from './joined-columns.ts';
import type { Row } from './table.ts';

const ASKS = ['prompt', 'instruction', 'question', 'query', 'input', 'problem'];
const ANSWERS = [...COMPLETION_NAMES, 'response', 'output', 'answer', 'solution', 'target'];
/** What a question or an instruction is about, in a column of its own. */
export const CONTEXTS = ['input', 'context'];
const OTHERS = ['dialog', 'dialogue', 'chat', 'turns', 'chosen'];

/**
 * The column, or some joined by `+`, by the names and the first row; null: none looks like one. `names`: the task's fields,
 * the conversation's first.
 */
export function guessConversation(
  names: readonly string[],
  columns: readonly string[],
  first: Row['values'],
): string | null {
  const [name = '', ...others] = names;
  const free = columns.filter((column) => !others.includes(column));
  const isJudged = others.some((other) => other !== 'id' && other !== 'tools');
  const turns = guessTurns(name, columns, free, first, isJudged);
  const areItems = [RESPONSES.asked, `${RESPONSES.asked}+${RESPONSES.answer}`].includes(turns ?? '');
  const isSystem = (column: string): boolean => isSystemName(column) || (areItems && column === RESPONSES.system);
  const system = free.find((column) => isSystem(column) && isSystemText(first[column]));
  if (turns === null) return null;
  const isApart = turns.includes('+') && !isConversation(first[turns.split('+')[0] ?? '']);
  const earlier = free.find((column) => isApart && isEarlierName(column) && pairsOf(first[column]) !== null);
  return [system, earlier, turns].filter((part) => part !== undefined).join('+');
}

/** What each role says, in order; none where it isn't a conversation that can be read. */
export function rolesOf(value: unknown): string[] {
  try {
    return readConversation(value, 'messages').map(({ role }) => role);
  } catch (error) {
    if (error instanceof ConversationFault) return [];
    throw error;
  }
}

const isTextOrNone = (value: unknown): boolean => value == null || typeof value === 'string';

/** `free`: columns that no other field is named after. `isJudged`: the task has fields beside the conversation. */
function guessTurns(
  name: string,
  columns: readonly string[],
  free: readonly string[],
  first: Row['values'],
  isJudged: boolean,
): string | null {
  const find = (names: readonly string[], fits: (value: unknown) => boolean, among = columns): string | undefined =>
    names
      .flatMap((one) => among.filter((column) => column.toLowerCase() === one.toLowerCase()))
      .find((column) => fits(first[column]));
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const found =
    find([name, ...CONVERSATION_NAMES, ...OTHERS], isConversation) ?? columns.find((one) => isConversation(first[one]));
  if (found === undefined) {
    const asks = find([name, ...ASKS], isText);
    const answers = find(ANSWERS, isText, free);
    // Without an answer it is a prompt, for a task that has what is right in another field.
    if (asks === undefined || (answers === undefined && !isJudged)) return null;
    const context = find(CONTEXTS, isTextOrNone, free);
    return [asks, context === asks ? undefined : context, answers].filter((part) => part !== undefined).join('+');
  }
  const { asked, answer } = RESPONSES;
  if ((found === asked || found === answer) && columns.includes(asked) && columns.includes(answer))
    return `${asked}+${answer}`;
  // A whole conversation may stand beside a prompt that it contains.
  if (found.toLowerCase() !== 'prompt' && rolesOf(first[found]).at(-1) !== 'user') return found;
  const isAnswer = (value: unknown): boolean => isConversation(value) || isMessage(value) || isText(value);
  const completion = find(COMPLETION_NAMES, isAnswer, free);
  return completion === undefined || completion === found ? found : `${found}+${completion}`;
}
