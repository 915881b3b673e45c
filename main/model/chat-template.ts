/** Chat templates (Jinja) of a model folder, rendered as transformers does, on a day that never changes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { inputError } from '../errors.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The day that templates which print one get: a prompt must not change overnight. */
const TEMPLATE_DATE = '26 Jul 2024';
/** That day in the letters of C's strftime; a template may ask for the time too. */
const TEMPLATE_DAY: Readonly<Record<string, string>> = {
  Y: '2024',
  y: '24',
  m: '07',
  d: '26',
  e: '26',
  B: 'July',
  b: 'Jul',
  A: 'Friday',
  a: 'Fri',
  j: '208',
  H: '00',
  I: '12',
  M: '00',
  S: '00',
  p: 'AM',
  F: '2024-07-26',
  '%': '%',
};

/** What every template may call or name. */
const GLOBALS = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  range,
  raise_exception: raise,
  strftime_now: pinnedDay,
};

/** The folder's chat template: chat_template.jinja, else the one of tokenizer_config.json; null without one. */
export function readChatTemplate(folder: string, config: Readonly<Record<string, unknown>>): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const own = config.chat_template;
  if (typeof own === 'string') return own;
  // Older files name several; the one for chats without tools is the default.
  const named = Array.isArray(own) ? (own as { name?: unknown; template?: unknown }[]) : [];
  const chosen = named.find(({ name }) => name === 'default')?.template;
  return typeof chosen === 'string' ? chosen : null;
}

/** Renders messages, ready for the assistant's answer. `folder` names the template in messages. */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  config: Readonly<Record<string, unknown>>,
  folder: string,
): string {
  try {
    return renderTemplate(template, {
      messages,
      tools: null,
      documents: null,
      add_generation_prompt: true,
      date_string: TEMPLATE_DATE,
      ...specialTokens(config),
    });
  } catch (cause) {
    const reason = (cause as Error).message;
    throw Object.assign(
      inputError(
        'CHAT_TEMPLATE_FAILED',
        `${folder}: its chat template can't be applied (${reason})`,
        'Mend the template, or delete it to use prompts as plain text.',
      ),
      { cause },
    );
  }
}

/** The library's own Template brings a strftime_now that can't be replaced and tells today. */
function renderTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  const environment = new Environment();
  for (const [name, value] of Object.entries({ ...GLOBALS, ...values })) environment.set(name, value);
  const program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
  return new Interpreter(environment).run(program).toString();
}

function raise(message: string): never {
  throw new Error(message);
}

/** Python's range. */
function range(start: number, stop?: number, step = 1): number[] {
  const [first, end] = stop === undefined ? [0, start] : [start, stop];
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / step)) }, (_, i) => first + i * step);
}

function pinnedDay(format: string): string {
  return format.replace(/%-?([A-Za-z%])/g, (letter, key: string) => TEMPLATE_DAY[key] ?? letter);
}

/** bos_token, eos_token … as templates know them. */
function specialTokens(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const named = Object.entries(config).filter(([key, value]) => key.endsWith('_token') && value !== null);
  const texts = named
    .map(([key, value]): [string, string] => [key, tokenText(value)])
    .filter(([, text]) => text !== '');
  // A template may add bos_token without asking whether there is one.
  return { bos_token: '', eos_token: '', ...Object.fromEntries(texts) };
}

/** A token setting is a string or an object with its content; anything else is no token. */
export function tokenText(value: unknown): string {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}
