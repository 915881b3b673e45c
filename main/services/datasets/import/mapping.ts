/** From a table's columns to a task's fields: which column becomes which field, guessed by name, and the values. */
import { inputError } from '../../../errors.ts';
import { isJsonObject, parseJsonExactly } from '../../../io/json.ts';
import type { ChatMessage } from '../../../samples/chat-message.ts';
import { ConversationFault, isConversation, readConversation } from '../../../tasks/folder/conversation.ts';
import { checkDefinition } from '../../../tasks/folder/definition.ts';
import type { TaskSource } from '../../../tasks/index.ts';
import { didYouMean, nearestName } from '../../../text/nearest-name.ts';
import { type DecimalMark, decimalMarkOf, solutionNumber, wholeNumberText } from '../../../text/numbers.ts';
import { CONTEXTS, guessConversation } from './guess-conversation.ts';
import { joinedConversation, joinedTexts } from './joined-columns.ts';
import type { Row } from './table.ts';

/** A field of a task's records. */
export interface TaskField {
  /** With dots for a field inside another: `engagement.likes`. */
  readonly name: string;
  readonly type: 'text' | 'number' | 'boolean' | 'list' | 'object' | 'messages';
  readonly optional: boolean;
}

/** Columns by field; a column may end in `:last-number` or `:trim`. */
export type Mapping = Readonly<Record<string, string>>;

/** The column of a field; a field may be called `constructor`, which every object has. */
export function mappedTo(mapping: Mapping, field: string): string | undefined {
  return Object.hasOwn(mapping, field) ? mapping[field] : undefined;
}

/** What a reply record is made of. */
const REPLY_FIELDS: readonly TaskField[] = [
  { name: 'id', type: 'text', optional: true },
  { name: 'post', type: 'text', optional: false },
  { name: 'reply', type: 'text', optional: false },
  ...['likes', 'reposts', 'replies'].map(
    (name): TaskField => ({ name: `engagement.${name}`, type: 'number', optional: true }),
  ),
];

/** The fields that a task's records have. */
export function taskFields(source: TaskSource): readonly TaskField[] {
  if (source === 'reply') return REPLY_FIELDS;
  if (typeof source === 'string')
    throw inputError(
      'NOT_IMPORTED',
      `Records of "${source}" are made from texts and can't be imported`,
      'Import the texts, or choose another task.',
    );
  const checked = checkDefinition(source.definition);
  const declared = 'definition' in checked ? checked.definition.fields : {};
  const own = Object.entries(declared).map(([name, type]): TaskField => {
    return { name, type: type.replace('?', '') as TaskField['type'], optional: type.endsWith('?') };
  });
  return own.some(({ name }) => name === 'id') ? own : [{ name: 'id', type: 'text', optional: true }, ...own];
}

/** What columns of other people's datasets are called, by what they are here. */
const KNOWN_AS: Readonly<Record<string, readonly string[]>> = {
  question: ['prompt', 'input', 'instruction', 'problem', 'query', 'q'],
  answer: [
    ...['ground_truth', 'expected_answer', 'final_answer', 'gold_answer', 'reference_answer'],
    // A label beside a completion says whether it is good.
    ...['output', 'response', 'target', 'solution', 'completion', 'label', 'gold', 'a'],
  ],
  text: ['content', 'body', 'sentence', 'document', 'passage', 'input', 'prompt'],
  task: ['prompt', 'instruction', 'question', 'description'],
  tests: ['test_list', 'test', 'unit_tests'],
  numbers: ['nums'],
  ground_truth: ['answer', 'solution'],
  solution: ['answer', 'ground_truth'],
  post: ['tweet', 'text', 'parent', 'prompt', 'message'],
  reply: ['response', 'answer', 'completion', 'comment'],
  likes: ['like_count', 'favorites', 'favourites', 'score'],
  reposts: ['retweets', 'retweet_count', 'shares'],
  replies: ['reply_count', 'comments'],
  id: ['_id', 'uid', 'uuid', 'key', 'idx'],
  tools: ['functions'],
};

/** An instruction as Alpaca's and Dolly's: what it is about stands in a column of its own. */
function instruction(columns: readonly string[]): string | undefined {
  const named = (name: string): string | undefined => columns.find((column) => column.toLowerCase() === name);
  const [asks, context] = [named('instruction'), CONTEXTS.map(named).find((name) => name !== undefined)];
  return asks === undefined || context === undefined ? undefined : `${asks}+${context}`;
}

/** The mapping that the names, and of conversations the first row, suggest; a field without a likely column is left out. */
export function guessMapping(fields: readonly TaskField[], columns: readonly string[], first?: Row): Mapping {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const taken = new Set<string>();
  const find = (wanted: readonly string[]): string | undefined =>
    wanted.flatMap((name) => columns.filter((column) => plain(column) === plain(name) && !taken.has(column)))[0];
  const mapping: Record<string, string> = {};
  for (const { name, type } of fields) {
    const names = [name, ...fields.map((field) => field.name).filter((other) => other !== name)];
    const column = type === 'messages' ? guessConversation(names, columns, first?.values ?? {}) : null;
    if (column === null) continue;
    mapping[name] = column;
    for (const one of column.split('+')) taken.add(one);
  }
  // Columns of the same name come first: a synonym must not take one that another field is named after.
  for (const pass of ['same', 'known'] as const)
    for (const { name, type } of fields) {
      if (mappedTo(mapping, name) !== undefined || type === 'messages') continue;
      const last = name.split('.').at(-1) ?? name;
      const column = find(
        pass === 'same' ? [name, last] : ((Object.hasOwn(KNOWN_AS, last) ? KNOWN_AS[last] : undefined) ?? []),
      );
      if (column === undefined) continue;
      const whole = type === 'text' && pass === 'known' ? instruction(columns) : undefined;
      const found = whole?.split('+').includes(column) ? whole : column;
      mapping[name] = type === 'text' && isConversation(first?.values[found]) ? `${found}.user` : found;
      for (const one of found.split('+')) taken.add(one);
    }
  for (const { name, type } of fields)
    if (ANSWERS.includes(name) && type !== 'messages' && mappedTo(mapping, name) === undefined)
      if (first !== undefined && valueAt(first.values, VERL) !== undefined) mapping[name] = VERL;
  return mapping;
}

/** Where verl's rows have what is right. */
const VERL = 'reward_model.ground_truth';
const ANSWERS = ['answer', 'ground_truth', 'solution', 'target', 'label'];

/** `field=column` arguments over the guessed mapping; an unknown field or column is an error with a suggestion. */
export function parseMapping(given: readonly string[]): Mapping {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
      throw inputError('BAD_MAPPING', `Expected --map field=column, got "${text}"`);
    }),
  );
}

const NUMBER_OF = ':last-number';
const TRIMMED = ':trim';

/** The column that a mapping names, without what is done with its value. */
export function columnOf(mapped: string): string {
  return [NUMBER_OF, TRIMMED].reduce(
    (column, how) => (column.endsWith(how) ? column.slice(0, -how.length) : column),
    mapped,
  );
}

/** Where answers stand at the end of a text, or a text of several words: not a date, nor "5 ft 10 in". */
const SOLUTION = /####|\\boxed|<\/answer>|(?:(?<!\p{L})\p{L}{2,}\P{L}+){3}/u;

/** A guess in which numbers are taken from the end of texts, as of GSM8K's solutions, where the first row has no plain one. */
export function numbersInTexts(mapping: Mapping, fields: readonly TaskField[], first: Row | undefined): Mapping {
  const numeric = new Set(fields.flatMap(({ name, type }) => (type === 'number' ? name : [])));
  const isSolution = (column: string): boolean => {
    const text = first === undefined ? undefined : valueAt(first.values, column);
    if (typeof text !== 'string' || !SOLUTION.test(text)) return false;
    return wholeNumberText(text) === null && solutionNumber(text) !== null;
  };
  return Object.fromEntries(
    Object.entries(mapping).map(([name, column]) => [
      name,
      numeric.has(name) && isSolution(column) ? `${column}${NUMBER_OF}` : column,
    ]),
  );
}

/** How each field's numbers are read, by what all rows of its column show; null: both ways are found, so neither is certain. */
export type DecimalMarks = Readonly<Record<string, DecimalMark | null>>;

/** The decimal marks of the texts in columns of numbers. */
export function decimalMarks(rows: readonly Row[], mapping: Mapping, fields: readonly TaskField[]): DecimalMarks {
  const numeric = fields.filter(({ name, type }) => type === 'number' && mappedTo(mapping, name) !== undefined);
  return Object.fromEntries(
    numeric.map(({ name }) => {
      const found = new Set<DecimalMark>();
      for (const { values } of rows) {
        const value = valueAt(values, mappedTo(mapping, name) ?? '');
        const mark = typeof value === 'string' ? decimalMarkOf(value) : null;
        if (mark !== null) found.add(mark);
      }
      const [first = '.'] = found;
      return [name, found.size > 1 ? null : first];
    }),
  );
}

/** Checks a mapping against the task and the table. */
export function checkMapping(
  mapping: Mapping,
  fields: readonly TaskField[],
  columns: readonly string[],
  unreadable: ReadonlyMap<string, string> = new Map(),
  first?: Row,
): void {
  const names = fields.map(({ name }) => name);
  for (const [field, column] of Object.entries(mapping)) {
    if (!names.includes(field))
      throw inputError(
        'BAD_MAPPING',
        `The task has no field "${field}"${didYouMean(nearestName(field, names))}`,
        `Its fields are ${names.join(', ')}.`,
      );
    const known = (part: string): boolean => columns.includes(part) || columns.includes(part.split('.')[0] ?? '');
    const path = partsOf(columnOf(column), columns).find((part) => !known(part));
    if (path !== undefined)
      throw inputError(
        'BAD_MAPPING',
        `There is no column "${path}"${didYouMean(nearestName(path, columns))}`,
        `The columns are ${columns.join(', ')}.`,
      );
  }
  for (const column of Object.values(mapping)) {
    const reason = unreadable.get(columnOf(column));
    if (reason !== undefined)
      throw inputError(
        'BAD_MAPPING',
        `The column "${columnOf(column)}" can't be read: ${reason}`,
        'Map another column, or write this one as texts or numbers.',
      );
  }
  const missing = fields.filter(({ name, optional }) => !optional && mappedTo(mapping, name) === undefined);
  const [wanted] = missing;
  if (wanted === undefined) return;
  throw inputError(
    'BAD_MAPPING',
    `No column is mapped to ${missing.map(({ name }) => `"${name}"`).join(', ')}`,
    `The columns are ${columns.join(', ')}.${partsHint(wanted, columns, first)}`,
  );
}

/** What a field that no column is called like may lie in; a conversation has a form of its own. */
function partsHint({ name, type }: TaskField, columns: readonly string[], first: Row | undefined): string {
  if (type === 'messages' || first === undefined) return '';
  for (const column of columns) {
    const value = insideOf(first.values[column]);
    if (type === 'text' && isConversation(value))
      return ` "${column}" is a conversation: map one role, such as ${name}=${column}.user.`;
  }
  for (const column of columns) {
    const value = insideOf(first.values[column]);
    const [part, ...more] = isJsonObject(value) ? Object.keys(value) : [];
    if (part !== undefined)
      return ` "${column}" has ${[part, ...more].slice(0, 5).join(', ')} inside: map one, such as ${name}=${column}.${part}.`;
  }
  return '';
}

/** The fields of one row, cast to their types where that is safe; what can't be cast is left for the task to refuse. */
export function mapRow(
  { values }: Row,
  mapping: Mapping,
  fields: readonly TaskField[],
  marks: DecimalMarks = {},
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const field of fields) {
    const column = mappedTo(mapping, field.name);
    const value = column === undefined ? undefined : fieldValue(values, column, field, marks);
    if (value === undefined || value === null || (field.optional && value === '')) continue;
    place(record, field.name.split('.'), value);
  }
  return record;
}

/** What a field gets of a row. */
export function fieldValue(
  values: Row['values'],
  column: string,
  { name, type }: TaskField,
  marks: DecimalMarks,
): unknown {
  const value = (type === 'text' ? textOfParts(values, column) : undefined) ?? valueAt(values, column);
  // A table of Arrow gives every call the arguments of all others, as nulls, and so the functions' schemas.
  const isSpoken = type === 'messages' || name === 'tools';
  if (typeof value !== 'string') return cast(isSpoken ? withoutNulls(value) : value, type);
  if (column.endsWith(TRIMMED)) return cast(value.trim(), type);
  const read = column.endsWith(NUMBER_OF) ? solutionNumber : wholeNumberText;
  if (type !== 'number') return cast((read === solutionNumber ? read(value) : null) ?? value, type);
  const mark = Object.hasOwn(marks, name) ? marks[name] : '.';
  if (mark != null) return read(value, mark) ?? value;
  return read(value, '.') === read(value, ',') ? (read(value) ?? value) : value;
}

function place(record: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    record[first] = value;
    return;
  }
  const inside = (Object.hasOwn(record, first) ? record[first] : {}) as Record<string, unknown>;
  record[first] = inside;
  place(inside, rest, value);
}

/** A column's value, or one inside it: `answers.text.0`. */
export function valueAt(values: Row['values'], column: string): unknown {
  const path = columnOf(column);
  const inside = (given: unknown, part: string): unknown => {
    const value = insideOf(given);
    if (ROLES.test(part) && isConversation(value)) return saidBy(value, part);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as Record<string, unknown>)[part];
  };
  if (Object.hasOwn(values, path)) return values[path];
  const parts = partsOf(path);
  if (parts.length > 1) return joinedConversation(parts.map((name) => ({ name, value: valueAt(values, name) })));
  return path.split('.').reduce<unknown>(inside, values);
}

/** A list or an object; many datasets have them as JSON in a text. */
function insideOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[[{]/.test(value) ? parsed(value) : value;
}

/** `prompt+completion` is a conversation in two columns; a column may have such a name itself. */
function partsOf(path: string, columns: readonly string[] = []): readonly string[] {
  const parts = path.split('+');
  return columns.includes(path) || parts.includes('') ? [path] : parts;
}

/** Columns joined by `+` as one text; undefined: it is one column, or not all are texts. */
function textOfParts(values: Row['values'], column: string): string | undefined {
  const path = columnOf(column);
  const parts = Object.hasOwn(values, path) ? [] : partsOf(path);
  return parts.length > 1 ? joinedTexts(parts.map((name) => valueAt(values, name))) : undefined;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, withoutNulls(one)]])),
  );
}

function cast(value: unknown, type: TaskField['type']): unknown {
  switch (type) {
    case 'text':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    case 'number':
      return value;
    case 'boolean':
      // Python and spreadsheets write them with capitals.
      return typeof value === 'string' && /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value;
    case 'list':
    case 'object':
      return typeof value === 'string' ? parsed(value) : value;
    case 'messages':
      return value === undefined || value === null ? value : usualForm(value);
  }
}

/** What can't be read is left for the task to refuse. */
function usualForm(value: unknown): unknown {
  try {
    return readConversation(value, 'messages');
  } catch (error) {
    if (error instanceof ConversationFault) return value;
    throw error;
  }
}

const ROLES = /^(?:system|user|assistant)$/;

/** What a role says last in a conversation; undefined: nothing. */
function saidBy(value: unknown, role: string): unknown {
  const read = usualForm(value);
  if (read === value) return undefined;
  return (read as readonly ChatMessage[]).findLast((message) => message.role === role)?.content ?? undefined;
}

function parsed(text: string): unknown {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}
