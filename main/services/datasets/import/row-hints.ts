/** What to do about a row that isn't a record of the task: columns under other names, lists, conversations. */
import { isJsonObject } from '../../../io/json.ts';
import { didYouMean, nearestName } from '../../../text/nearest-name.ts';
import { columnOf, type Mapping, type TaskField, valueAt } from './mapping.ts';
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

/** Lists and objects where the task wants a text. */
function partsOf(values: Row['values'], mapping: Mapping, fields: readonly TaskField[]): string {
  const hints = fields.map(({ name, type }) => {
    const column = mapping[name];
    const value = column === undefined || type !== 'text' ? null : valueAt(values, column);
    if (column === undefined || typeof value !== 'object' || value === null) return '';
    const messages = conversationOf(value);
    const last = messages?.findLastIndex(({ role }) => role === 'user') ?? -1;
    if (messages !== null && last >= 0)
      return `; it is a conversation (${messages.map(({ role }) => role).join(', ')}): map one message, such as ${name}=${column}.${last}.content`;
    const [part] = Object.keys(value);
    return part === undefined ? '' : `; map a part of it, such as ${name}=${column}.${part}`;
  });
  return hints.join('');
}

/** Says of a row that maps one message of a conversation that its system message would be lost; null: it wouldn't. */
export function lostSystem({ values }: Row, mapping: Mapping): string | null {
  const used = Object.values(mapping).map(columnOf);
  for (const column of used) {
    const [, list] = /^(.+)\.\d+\.content$/.exec(column) ?? [];
    const messages = list === undefined ? null : conversationOf(valueAt(values, list));
    const at = messages?.findIndex(({ role }) => role === 'system') ?? -1;
    if (at >= 0 && !used.includes(`${list}.${at}.content`))
      return `the system message ${list}.${at} would be lost; give the task a field for it, such as system: text with \`system: '{system}'\`, and map system=${list}.${at}.content`;
  }
  return null;
}

interface Message {
  readonly role: string;
}

function conversationOf(value: unknown): readonly Message[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const isMessage = (one: unknown): one is Message =>
    isJsonObject(one) && typeof one.role === 'string' && Object.hasOwn(one, 'content');
  return value.every(isMessage) ? value : null;
}
