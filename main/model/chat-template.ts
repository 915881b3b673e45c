/** Chat templates (Jinja) of a model folder, rendered as transformers does, with a fixed date. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { inputError } from '../errors.ts';
import { readRegular } from '../io/read-file.ts';
import { evaluateStrip } from './python-strip.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The date for templates that print one: a prompt must not change from day to day. */
export const TEMPLATE_DATE = '26 Jul 2024';
/** That date by strftime directive; a template may print the time too. */
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

/** Globals that every template can use. */
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

/** The folder's chat template: chat_template.jinja, or the one in tokenizer_config.json; null if there is none. */
export function readChatTemplate(folder: string, config: Readonly<Record<string, unknown>>): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return readTemplate(file);
  const own = config.chat_template;
  if (typeof own === 'string') return own;
  // Older files have several; the default is for chats without tools.
  const named = Array.isArray(own) ? (own as { name?: unknown; template?: unknown }[]) : [];
  const chosen = named.find(({ name }) => name === 'default')?.template;
  return typeof chosen === 'string' ? chosen : null;
}

function readTemplate(file: string): string {
  try {
    return readRegular(file, 4 * LONGEST_TEMPLATE).toString('utf8');
  } catch (cause) {
    const error = inputError('MODEL_FILE_UNREADABLE', `${file}: can't be read (${(cause as Error).message})`);
    throw Object.assign(error, { cause });
  }
}

/**
 * Renders messages, `ready` for the assistant's answer or as a finished conversation. `folder` identifies the template in errors; `kwargs` are variables
 * of the template's own, such as Qwen3's `enable_thinking`.
 */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  config: Readonly<Record<string, unknown>>,
  folder: string,
  kwargs: Readonly<Record<string, unknown>> = {},
  ready = true,
): string {
  try {
    return renderTemplate(template, {
      date_string: TEMPLATE_DATE,
      ...specialTokens(config),
      ...kwargs,
      messages,
      tools: null,
      documents: null,
      add_generation_prompt: ready,
    });
  } catch (cause) {
    const reason = (cause as Error).message;
    throw Object.assign(
      inputError(
        'CHAT_TEMPLATE_FAILED',
        `${folder}: its chat template can't be applied (${reason})`,
        'Fix the template, or delete it to use prompts as plain text.',
      ),
      { cause },
    );
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
    strftime_now: (format: string) => otherDigits(pinnedDay(format)),
  };
  const text = renderChat(template, asked, config, folder, kwargs);
  try {
    return renderChat(template, asked, config, folder, { ...date, ...kwargs }) !== text;
  } catch {
    // It reads a date, and can't read such a one.
    return true;
  }
}

/** The library's own Template has a strftime_now that can't be replaced and uses today's date. */
function renderTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  const environment = new Environment();
  for (const [name, value] of Object.entries({ ...GLOBALS, ...values })) environment.set(name, value);
  if (template.length > LONGEST_TEMPLATE) raise(`it has ${template.length} characters, at most ${LONGEST_TEMPLATE}`);
  // The library's lexer looks at a run of spaces again from each of them.
  if (TOO_MUCH_SPACE.test(template)) raise(`it has more than ${LONGEST_SPACE} spaces in a row`);
  const unix = template.replace(/\r\n?/g, '\n');
  const program = parse(tokenize(unix, { lstrip_blocks: true, trim_blocks: true }));
  const text = bounded(new Interpreter(environment)).run(program).toString();
  if (text.length > LONGEST_TEXT) raise(`it makes a text of ${text.length} characters, at most ${LONGEST_TEXT}`);
  return text;
}

/** A model comes from anywhere, and its template is a program: these bounds are far beyond what chats need. */
const LONGEST_TEMPLATE = 200_000;
const LONGEST_SPACE = 1000;
const TOO_MUCH_SPACE = new RegExp(`\\s{${LONGEST_SPACE + 1}}`);
const LONGEST_TEXT = 10_000_000;
const LONGEST_RANGE = 10_000;
const MAX_EVALUATIONS = 200_000;
const MAX_SECONDS = 10;
/** The clock is asked that often only. */
const CLOCK_EVERY = 256;

/** Makes the interpreter end a template that loops for too long, or whose single steps take too long. */
function bounded(interpreter: Interpreter): Interpreter {
  const evaluate = interpreter.evaluate.bind(interpreter);
  const began = performance.now();
  let evaluations = 0;
  interpreter.evaluate = (statement: Parameters<typeof evaluate>[0], environment: Parameters<typeof evaluate>[1]) => {
    evaluations += 1;
    if (evaluations > MAX_EVALUATIONS) raise(`it takes more than ${MAX_EVALUATIONS} steps`);
    if (evaluations % CLOCK_EVERY === 0 && performance.now() - began > MAX_SECONDS * 1000)
      raise(`it takes more than ${MAX_SECONDS} s`);
    return (
      evaluateStrip(statement, (node) => interpreter.evaluate(node, environment)) ?? evaluate(statement, environment)
    );
  };
  return interpreter;
}

function raise(message: string): never {
  throw new Error(message);
}

/** Python's range. */
function range(start: number, stop?: number, step = 1): number[] {
  const [first, end] = stop === undefined ? [0, start] : [start, stop];
  const length = Math.max(0, Math.ceil((end - first) / step));
  if (!(length <= LONGEST_RANGE)) raise(`it asks for a range of ${length} numbers, at most ${LONGEST_RANGE}`);
  return Array.from({ length }, (_, i) => first + i * step);
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
  // A template may print bos_token without checking that there is one.
  return { bos_token: '', eos_token: '', ...Object.fromEntries(texts) };
}

/** A token setting is a string or an object with its content; anything else is not a token. */
export function tokenText(value: unknown): string {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}
