/** A record of a folder's task: the fields that task.yaml declares, and the prompt that they give. */
import { inputError } from '../../errors.ts';
import { isJsonObject, TOO_LARGE } from '../../io/json.ts';
import {
  answerOf,
  askedOf,
  type ChatMessage,
  type ChatTool,
  plainLines,
  shownText,
} from '../../samples/chat-message.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { badRecord, shown } from '../record-faults.ts';
import type { Answer, TaskRecord } from '../task.ts';
import { ConversationFault, conversationIn, readTools } from './conversation.ts';
import { conversationField, type FieldType, type TaskDefinition } from './definition.ts';
import { fieldsIn, fillIn, shownField, withoutEnd } from './template.ts';

/** A record with its own fields and whatever else its line has. */
export interface FolderRecord extends TaskRecord, Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly prompt: string;
  readonly messages?: readonly ChatMessage[];
}

/** Checks one parsed JSONL value; the error names invalid fields. Without an `id` it is named after its line. */
export function parseFolderRecord(task: TaskDefinition, value: unknown, line = 1): FolderRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw inputError('BAD_RECORD', `expected an object with the fields ${listed(task)}, got ${shown(value)}`);
  const given = value as Readonly<Record<string, unknown>>;
  const conversation = conversationField(task);
  const spoken = conversation === undefined ? null : spokenIn(given, conversation, Object.keys(task.fields));
  const record = spoken?.record ?? given;
  const faults = [...(spoken?.faults ?? []), ...fieldFaults(task, record, spoken?.faults), ...idFaults(record)];
  if (faults.length > 0) throw badRecord(faults);
  const id = record.id === undefined ? `line-${line}` : String(record.id);
  // A line's own `messages`, as chat datasets have them, are not the conversation that task.yaml makes.
  const { messages: _, ...others } = record;
  if (spoken === null) return { ...others, id, ...prompted(task, { ...others, id }) };
  return { ...record, id, ...asked(task, spoken.messages, { ...record, id }) };
}

interface Spoken {
  readonly messages: readonly ChatMessage[];
  readonly record: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
}

/** A record with its conversation and functions in the usual form, or what is wrong with them. */
function spokenIn(given: Readonly<Record<string, unknown>>, field: string, declared: readonly string[]): Spoken {
  try {
    const messages = conversationIn(given, field, declared) ?? [];
    const tools = readTools(given.tools);
    const found = messages.length === 0 ? {} : { [field]: messages };
    return { messages, record: { ...given, ...found, ...(tools && { tools }) }, faults: [] };
  } catch (error) {
    if (!(error instanceof ConversationFault)) throw error;
    return { messages: [], record: given, faults: [error.message] };
  }
}

/** A conversation of the record's own; task.yaml's `system` opens one that has none. */
function asked(task: TaskDefinition, own: readonly ChatMessage[], values: Readonly<Record<string, unknown>>) {
  const opens = task.system !== undefined && own[0]?.role !== 'system';
  const system = opens ? [{ role: 'system' as const, content: fillIn(withoutEnd(task.system ?? ''), values) }] : [];
  const messages = [...system, ...own];
  return { prompt: plainLines(askedOf(messages)), messages };
}

/** The functions that a record with a conversation offers. */
export function toolsOf({ tools }: FolderRecord): readonly ChatTool[] | undefined {
  return tools as readonly ChatTool[] | undefined;
}

/** The turn that ends a record's own conversation; empty: somebody else's does. */
export function ownAnswer(task: TaskDefinition, { messages = [] }: FolderRecord): string {
  const answer = conversationField(task) === undefined ? null : answerOf(messages);
  return answer === null ? '' : shownText(answer);
}

/** The texts of a record that stand in its prompt. */
export function quotedFields(task: TaskDefinition, record: FolderRecord): string[] {
  if (conversationField(task) !== undefined) return textsIn([record.messages, record.tools]);
  return promptFields(task)
    .map((name) => shownField(record[name]))
    .filter((text) => text !== '');
}

/** Every text of a conversation, the names of a call's arguments too. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => (name === 'role' ? [] : [name, ...textsIn(one)]));
}

/** Asked for each of a million records. */
const fieldsOfPrompts = new WeakMap<TaskDefinition, readonly string[]>();

function promptFields(task: TaskDefinition): readonly string[] {
  const known = fieldsOfPrompts.get(task);
  if (known !== undefined) return known;
  const templates = [task.prompt, task.system, ...(task.messages ?? []).map(({ content }) => content)];
  const names = [...new Set(templates.flatMap((template) => fieldsIn(template ?? '')))];
  fieldsOfPrompts.set(task, names);
  return names;
}

/** One text for a `prompt` alone; otherwise messages, and their texts below each other for models without a template. */
function prompted(task: TaskDefinition, values: Readonly<Record<string, unknown>>) {
  const system = task.system === undefined ? [] : [{ role: 'system' as const, content: task.system }];
  const asked = task.messages ?? [{ role: 'user' as const, content: task.prompt ?? '' }];
  const messages = [...system, ...asked].map(({ role, content }) => ({
    role,
    content: fillIn(withoutEnd(content), values),
  }));
  return { prompt: joined(messages), ...(messages.length > 1 && { messages }) };
}

function joined(messages: readonly ChatMessage[]): string {
  return messages.map(({ content }) => content).join('\n\n');
}

/** A record's prompt in one text; of messages, with what the model was `asked` in place of the record's. */
export function promptOf(task: TaskDefinition, { record, asked }: Pick<Answer, 'record' | 'asked'>): string {
  if (asked === undefined || record.messages === undefined) return record.prompt;
  return conversationField(task) === undefined ? joined(asked) : plainLines(asked);
}

function fieldFaults(
  task: TaskDefinition,
  record: Readonly<Record<string, unknown>>,
  known: readonly string[] = [],
): string[] {
  // What a missing field may be called here: a record can have any number of others.
  let others: readonly string[] | null = null;
  const extra = (): readonly string[] => {
    others ??= Object.keys(record)
      .filter((name) => !Object.hasOwn(task.fields, name))
      .slice(0, MOST_GUESSED);
    return others;
  };
  return Object.entries(task.fields).flatMap(([name, declaredType]) => {
    const type = declaredType.replace('?', '') as FieldType;
    // What is wrong with a conversation is known by its place.
    if (type === 'messages' && known.length > 0) return [];
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (value === undefined || value === null) {
      if (declaredType.endsWith('?')) return [];
      const meant = nearestName(name, extra());
      return [
        `expected the field "${name}" (${type}), got none${meant === undefined ? '' : `; it has "${meant}": did you mean "${name}"?`}`,
      ];
    }
    if (isOf(type, value)) return [];
    if (type === 'number' && typeof value === 'string' && isLarge(value))
      return [`expected "${name}" to be ${WORDS.number}, got ${value}, ${TOO_LARGE}; use a text field`];
    return [`expected "${name}" to be ${WORDS[type]}, got ${shown(value)}`];
  });
}

/** Digits of which a number would keep the first only. */
function isLarge(text: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text) && Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER;
}

const MOST_GUESSED = 100;

function idFaults({ id }: Readonly<Record<string, unknown>>): string[] {
  const fits = id === undefined || (typeof id === 'string' && id !== '') || typeof id === 'number';
  return fits ? [] : [`expected "id" to be a text or a number, got ${shown(id)}`];
}

function isOf(type: FieldType, value: unknown): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string' && !value.includes('\0');
    case 'list':
    case 'messages':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
  }
}

const WORDS: Readonly<Record<FieldType, string>> = {
  text: 'a text without NUL characters',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
  messages: 'a list of messages {role, content}',
};

function listed({ fields }: TaskDefinition): string {
  return Object.keys(fields).join(', ');
}
