/** Which column of a table is a conversation, or which two are its prompt and its answer. */
import { COMPLETION_NAMES, CONVERSATION_NAMES, isConversation } from '../../../tasks/folder/conversation.ts';
import type { Row } from './table.ts';

const ASKS = ['prompt', 'instruction', 'question', 'query', 'input', 'problem'];
const ANSWERS = [...COMPLETION_NAMES, 'response', 'output', 'answer', 'solution', 'target'];
const OTHERS = ['dialog', 'dialogue', 'chat', 'turns', 'chosen'];

/** The column, or two joined by `+`, by the names and the first row; null: none looks like one. `name`: the field's. */
export function guessConversation(name: string, columns: readonly string[], first: Row['values']): string | null {
  const find = (names: readonly string[], fits: (value: unknown) => boolean): string | undefined =>
    names
      .flatMap((one) => columns.filter((column) => column.toLowerCase() === one.toLowerCase()))
      .find((column) => fits(first[column]));
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const found =
    find([name, ...CONVERSATION_NAMES, ...OTHERS], isConversation) ?? columns.find((one) => isConversation(first[one]));
  if (found === undefined) {
    const [asks, answers] = [find(ASKS, isText), find(ANSWERS, isText)];
    return asks !== undefined && answers !== undefined ? `${asks}+${answers}` : null;
  }
  // A whole conversation may stand beside a prompt that it contains.
  if (found.toLowerCase() !== 'prompt') return found;
  const completion = find(COMPLETION_NAMES, (value) => isConversation(value) || isText(value));
  return completion === undefined ? found : `${found}+${completion}`;
}
