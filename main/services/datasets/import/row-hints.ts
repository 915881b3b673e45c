/** What to do about a row that isn't a record of the task: columns under other names, lists, conversations. */
import { ConversationFault, checkMedia, isConversation } from '../../../tasks/folder/conversation.ts';
import { didYouMean, nearestName } from '../../../text/nearest-name.ts';
import { rolesOf } from './guess-conversation.ts';
import { columnOf, type Mapping, mappedTo, type TaskField, valueAt } from './mapping.ts';
import type { Row } from './table.ts';

/** Follows the fault of a row. */
export function rowHints({ values }: Row, mapping: Mapping, fields: readonly TaskField[]): string {
  return absentColumns(values, mapping) + partsOf(values, mapping, fields);
}

/** Mapped columns that the row doesn't have, and what they may be called there. */
function absentColumns(values: Row['values'], mapping: Mapping): string {
  const used = Object.values(mapping).map(columnOf);
  const absent = used.filter((column) => valueAt(values, column) === undefined);
  if (absent.length === 0) return '';
  const own = Object.keys(values).filter((name) => !used.includes(name));
  return absent.map((column) => `; this row has no column "${column}"${didYouMean(nearestName(column, own))}`).join('');
}

const WHOLE = 'the task "conversation" takes it whole';

/** Lists and objects where the task wants a text. */
function partsOf(values: Row['values'], mapping: Mapping, fields: readonly TaskField[]): string {
  const hints = fields.map(({ name, type }) => {
    const column = mappedTo(mapping, name);
    const value = column === undefined || type !== 'text' ? null : valueAt(values, column);
    if (column === undefined || typeof value !== 'object' || value === null) return '';
    if (isConversation(value))
      return `; it is a conversation (${rolesOf(value).join(', ')}): map one role, such as ${name}=${column}.user, or ${WHOLE}`;
    const [part] = Object.keys(value);
    return part === undefined ? '' : `; map a part of it, such as ${name}=${column}.${part}`;
  });
  return hints.join('');
}

/** What a row that maps parts of a conversation would lose: its system message, or earlier turns; null: nothing. */
export function lostTurns({ values }: Row, mapping: Mapping): string | null {
  const used = Object.values(mapping).map(columnOf);
  for (const column of used) {
    const [, list = '', part] = /^(.+?)\.(\d+\.content|user|assistant|system)$/.exec(column) ?? [];
    const conversation = part === undefined ? undefined : valueAt(values, list);
    if (part === undefined || !isConversation(conversation)) continue;
    const roles = rolesOf(conversation);
    const system = roles.indexOf('system');
    if (system >= 0 && !used.includes(`${list}.system`) && !used.includes(`${list}.${system}.content`))
      return `the system message of ${list} would be lost; give the task a field for it, such as system: text with \`system: '{system}'\`, and map system=${list}.system; or ${WHOLE}`;
    if (part === 'user' && roles.filter((role) => role === 'user').length > 1)
      return `${list} has several turns, of which ${column} is the last; ${WHOLE}`;
  }
  return null;
}

/** Pictures and sounds beside a conversation, which would be lost; null: there are none. */
export function mediaBeside({ values }: Row, mapping: Mapping, fields: readonly TaskField[]): string | null {
  if (!fields.some(({ name, type }) => type === 'messages' && mappedTo(mapping, name) !== undefined)) return null;
  try {
    checkMedia(values);
    return null;
  } catch (error) {
    if (error instanceof ConversationFault) return error.message;
    throw error;
  }
}
