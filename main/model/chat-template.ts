/** Chat templates (Jinja) of a model folder, rendered as transformers does, with a fixed date. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputError } from '../errors.ts';
import { isJsonObject } from '../io/json.ts';
import { readRegular } from '../io/read-file.ts';
import type { ChatMessage, ChatRole, ChatTool } from '../samples/chat-message.ts';
import { textArgument } from './jinja/signature.ts';
import { fromJs, parseTemplate, type Template } from './jinja/template.ts';
import { plain, type Str } from './jinja/text.ts';
import { PyFunction, type Value } from './jinja/values.ts';
import { pinnedDay, TEMPLATE_DATE } from './template-date.ts';

/** A folder's chat templates; null: it has none. */
export interface ChatTemplates {
  readonly usual: string | null;
  /** For chats with functions that may be called, where it has one of its own for them. */
  readonly withTools: string | null;
}

/** Those of its files, otherwise those in tokenizer_config.json: a text, or several as a list or by name. */
export function readChatTemplates(folder: string, config: Readonly<Record<string, unknown>>): ChatTemplates {
  const files = templateFiles(folder);
  const named = files.size > 0 ? files : namedIn(config.chat_template);
  const of = (name: string): string | null => {
    const template = named.get(name);
    // An empty one would make every prompt empty.
    return typeof template !== 'string' || template.trim() === '' ? null : template;
  };
  if (named.size > 0 && typeof named.get('default') !== 'string')
    throw inputError(
      'CHAT_TEMPLATE_FAILED',
      `${folder}: its chat templates are called ${[...named.keys()].slice(0, 8).join(', ')}, and none "default"`,
      'Save the one to use as chat_template.jinja in that folder.',
    );
  return { usual: of('default'), withTools: of('tool_use') };
}

/** The template for chats without functions. */
export function readChatTemplate(folder: string, config: Readonly<Record<string, unknown>>): string | null {
  return readChatTemplates(folder, config).usual;
}

/** The templates in files of their own, by name. */
export function templateFiles(folder: string): ReadonlyMap<string, string> {
  const usual = join(folder, 'chat_template.jinja');
  const more = join(folder, ADDITIONAL_TEMPLATES);
  const others = existsSync(more) ? readdirSync(more).filter((file) => file.endsWith('.jinja')) : [];
  const files = [
    ...(existsSync(usual) ? [['default', usual] as const] : []),
    ...others.toSorted().map((file) => [basename(file, '.jinja'), join(more, file)] as const),
  ];
  return new Map(files.map(([name, file]) => [name, readTemplate(file)]));
}

/** Where transformers saves the templates that aren't the default. */
export const ADDITIONAL_TEMPLATES = 'additional_chat_templates';

function namedIn(own: unknown): ReadonlyMap<string, unknown> {
  if (typeof own === 'string') return new Map([['default', own]]);
  if (typeof own !== 'object' || own === null) return new Map();
  return Array.isArray(own)
    ? new Map((own as { name?: unknown; template?: unknown }[]).map(({ name, template }) => [String(name), template]))
    : new Map(Object.entries(own));
}

function readTemplate(file: string): string {
  try {
    return readRegular(file, 4 * LONGEST_TEMPLATE).toString('utf8');
  } catch (cause) {
    const error = inputError('MODEL_FILE_UNREADABLE', `${file}: can't be read (${(cause as Error).message})`);
    throw Object.assign(error, { cause });
  }
}

/** A message whose words, and those of its tool calls, may know who wrote them. */
export interface RenderedMessage {
  readonly role: ChatRole;
  readonly content: Str | null;
  readonly [field: string]: unknown;
}

/** Functions that may be called, as JSON schemas; their words may know who wrote them. */
export type RenderedTools = readonly ChatTool[] | Value;

/** A message whose words are quoted, those of its tool calls too. */
export function quotedMessage(
  { role, content, ...others }: ChatMessage,
  quoted: (words: string) => Str,
): RenderedMessage {
  const words = Object.entries(others).map(([field, value]) => [field, fromJs(value, quoted)] as const);
  return { role, content: content === null ? null : quoted(content), ...Object.fromEntries(words) };
}

/** What a template is rendered with. */
export interface ChatInput {
  readonly template: string;
  /** tokenizer_config.json, for bos_token and the like. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Identifies the template in errors. */
  readonly folder: string;
  /** Variables of the template's own, such as Qwen3's `enable_thinking`. */
  readonly kwargs: Readonly<Record<string, unknown>>;
}

/** Renders messages and the functions that may be called, `ready` for the assistant's answer or as a finished conversation. */
export function renderMessages(
  input: ChatInput,
  messages: readonly RenderedMessage[],
  ready: boolean,
  tools: RenderedTools = null,
): Str {
  try {
    return renderWordless(input, messages, ready, tools);
  } catch (cause) {
    throw takesNoSystem(input, messages, tools)
      ? systemRefused(input.folder, cause as Error)
      : cannotRender(input.folder, cause as Error);
  }
}

/** Turns that only call functions have no content; for a template that can't have that, an empty one. */
function renderWordless(input: ChatInput, messages: readonly RenderedMessage[], ready: boolean, tools: RenderedTools) {
  try {
    return render(input, messages, ready, tools);
  } catch (cause) {
    if (messages.every(({ content }) => content !== null)) throw cause;
    const filled = messages.map((message) => ({ ...message, content: message.content ?? '' }));
    return render(input, filled, ready, tools);
  }
}

function render(
  { template, config, kwargs }: ChatInput,
  messages: readonly RenderedMessage[],
  ready: boolean,
  tools: RenderedTools,
): Str {
  return parsed(template).render({
    date_string: TEMPLATE_DATE,
    strftime_now: dateFunction(pinnedDay),
    ...specialTokens(config),
    ...kwargs,
    messages: messages.map(withoutNulls),
    tools,
    documents: null,
    add_generation_prompt: ready,
  });
}

/** As transformers from 5.24 on: of a turn that only calls functions many templates would print the content "None". */
function withoutNulls(message: RenderedMessage): object {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
}

/** Whether the same messages without the system's could be rendered. */
function takesNoSystem(input: ChatInput, messages: readonly RenderedMessage[], tools: RenderedTools): boolean {
  const others = messages.filter(({ role }) => role !== 'system');
  if (others.length === messages.length) return false;
  try {
    renderMessages(input, others, true, tools);
    return true;
  } catch {
    return false;
  }
}

function systemRefused(folder: string, cause: Error): Error {
  const error = inputError(
    'SYSTEM_ROLE_REFUSED',
    `${folder}: its chat template takes no system message (${cause.message})`,
    'Leave system_prompt out (in a task: "system"), or put its text into the prompt.',
  );
  return Object.assign(error, { cause });
}

/** The same as a text. */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  config: Readonly<Record<string, unknown>>,
  folder: string,
  kwargs: Readonly<Record<string, unknown>> = {},
): string {
  return plain(renderMessages({ template, config, folder, kwargs }, messages, true));
}

function cannotRender(folder: string, cause: Error): Error {
  const error = inputError(
    'CHAT_TEMPLATE_FAILED',
    `${folder}: its chat template can't be applied (${cause.message})`,
    'Fix the template, or delete it to use prompts as plain text.',
  );
  return Object.assign(error, { cause });
}

/** The variables that a template reads. */
export function templateReads(template: string, folder: string): ReadonlySet<string> {
  try {
    return parsed(template).reads;
  } catch (cause) {
    throw cannotRender(folder, cause as Error);
  }
}

/** Whether a template prints the date, so that another day would give another prompt. */
export function dependsOnDate(
  template: string,
  config: Readonly<Record<string, unknown>>,
  folder: string,
  kwargs: Readonly<Record<string, unknown>>,
): boolean {
  const asked: readonly ChatMessage[] = [{ role: 'user', content: 'a' }];
  const otherDigits = (text: string): string => text.replace(/\d/g, (digit) => String(9 - Number(digit)));
  const date = {
    date_string: otherDigits(TEMPLATE_DATE),
    strftime_now: dateFunction((format) => otherDigits(pinnedDay(format))),
  };
  const text = renderChat(template, asked, config, folder, kwargs);
  try {
    return renderChat(template, asked, config, folder, { ...date, ...kwargs }) !== text;
  } catch {
    // It reads a date, and can't read such a one.
    return true;
  }
}

function dateFunction(dayOf: (format: string) => string): PyFunction {
  return new PyFunction('strftime_now', ([format = '']) => dayOf(plain(textArgument(format, 'strftime_now'))));
}

const LONGEST_TEMPLATE = 200_000;
/** Templates in use, since thousands of prompts are rendered with one. */
const KEPT_TEMPLATES = 8;
const kept = new Map<string, Template>();

function parsed(template: string): Template {
  if (template.length > LONGEST_TEMPLATE)
    throw new Error(`it has ${template.length} characters, at most ${LONGEST_TEMPLATE}`);
  const known = kept.get(template);
  if (known !== undefined) return known;
  const made = parseTemplate(template);
  const [oldest] = kept.keys();
  if (kept.size >= KEPT_TEMPLATES && oldest !== undefined) kept.delete(oldest);
  kept.set(template, made);
  return made;
}

/** bos_token, eos_token … as templates know them. */
function specialTokens(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const { extra_special_tokens: extra } = config;
  const more = isJsonObject(extra) ? Object.entries(extra as object) : [];
  const named = [...more, ...Object.entries(config)].filter(([key, value]) => key.endsWith('_token') && value !== null);
  const texts = named
    .map(([key, value]): [string, string] => [key, tokenText(value)])
    .filter(([, text]) => text !== '');
  // A template may print bos_token without checking that there is one.
  return { bos_token: '', eos_token: '', ...Object.fromEntries(texts) };
}

/** A token setting is a string or an object with its content; anything else is not a token. */
export function tokenText(value: unknown): string {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}
