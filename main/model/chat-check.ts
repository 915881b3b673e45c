/**
 * Whether a model's chat template does what a run's chat settings ask for: variables that it reads, true and false as
 * such, a system prompt that it takes. What doesn't is otherwise rendered without a word. Pure.
 */
import type { ChatMessage } from '../samples/chat-message.ts';
import { nearestName } from '../text/nearest-name.ts';
import { type ChatInput, renderMessages, templateReads } from './chat-template.ts';
import { plain } from './jinja/text.ts';

export interface ChatFinding {
  /** A fault is not what was meant; a warning may be. */
  readonly kind: 'fault' | 'warning';
  readonly message: string;
  readonly remedy: string;
}

/** What a template is given by Braid itself. */
const OWN = ['messages', 'tools', 'documents', 'add_generation_prompt', 'bos_token', 'eos_token', 'date_string'];

/** A model without a template has no use for variables. */
export function withoutTemplate(kwargs: ChatInput['kwargs']): ChatFinding[] {
  if (Object.keys(kwargs).length === 0) return [];
  const message = 'chat_template_kwargs: this model has no chat template, so that they change nothing';
  return [{ kind: 'warning', message, remedy: 'Leave chat_template_kwargs out, or use a chat model.' }];
}

/** What the template makes of the settings, compared with what it makes of others. */
export function checkChat(input: ChatInput, system: string | null): ChatFinding[] {
  const reads = templateReads(input.template, input.folder);
  return [
    ...Object.entries(input.kwargs).flatMap(([name, value]) => checkVariable(input, reads, name, value)),
    ...(system === null ? [] : checkSystem(input, system)),
  ];
}

function checkVariable(input: ChatInput, reads: ReadonlySet<string>, name: string, value: unknown): ChatFinding[] {
  if (!reads.has(name)) return [unread(name, [...reads].filter((known) => !OWN.includes(known)).sort())];
  const meant = truthOf(value);
  if (meant === null) return [];
  const { [name]: _, ...others } = input.kwargs;
  const textWith = (kwargs: ChatInput['kwargs']): string | null => attempt({ ...input, kwargs });
  const text = textWith(input.kwargs);
  const [right, wrong] = [textWith({ ...others, [name]: meant }), textWith({ ...others, [name]: !meant })];
  // A template may want a number or a word here: then it makes something of it.
  if (text === right || (text !== textWith(others) && text !== wrong)) return [];
  const given = typeof value === 'string' ? `the text ${JSON.stringify(value)}` : `the number ${value}`;
  return [
    {
      kind: 'fault',
      message: `chat_template_kwargs: "${name}" is ${given}, which this model's chat template doesn't take for ${meant}`,
      remedy: `Write ${name}: ${meant}`,
    },
  ];
}

function unread(name: string, known: readonly string[]): ChatFinding {
  const near = nearestName(name, known);
  const read = known.length === 0 ? 'It reads no variables of its own.' : `It reads ${known.slice(0, 8).join(', ')}.`;
  return {
    kind: near === undefined ? 'warning' : 'fault',
    message: `chat_template_kwargs: this model's chat template reads no "${name}", so that it changes nothing`,
    remedy: near === undefined ? `Leave it out. ${read}` : `Did you mean "${near}"?`,
  };
}

const FALSE = ['false', 'no', 'off', 'n', 'f', '0'];
const TRUE = ['true', 'yes', 'on', 'y', 't', '1'];

/** What a value says in another type than true or false; null: neither. */
function truthOf(value: unknown): boolean | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const word = String(value).trim().toLowerCase();
  if (FALSE.includes(word)) return false;
  return TRUE.includes(word) ? true : null;
}

const ASKED: readonly ChatMessage[] = [{ role: 'user', content: 'a' }];
/** Several turns: a switch may only change earlier answers. */
const TALK: readonly ChatMessage[] = [...ASKED, { role: 'assistant', content: '<think>\nb\n</think>\n\nc' }, ...ASKED];

/** What the template makes of chats; null where it refuses one. */
function attempt(input: ChatInput, messages = TALK): string | null {
  try {
    return [ASKED, messages].map((chat) => plain(renderMessages(input, chat, true))).join('\0');
  } catch {
    return attemptOne(input);
  }
}

function attemptOne(input: ChatInput): string | null {
  try {
    return plain(renderMessages(input, ASKED, true));
  } catch {
    return null;
  }
}

/** A template that leaves the system prompt out. One that refuses it says so when a prompt is rendered. */
function checkSystem(input: ChatInput, system: string): ChatFinding[] {
  const given: readonly ChatMessage[] = [{ role: 'system', content: system }, ...ASKED];
  let text: string;
  try {
    text = plain(renderMessages(input, given, true));
  } catch {
    return [];
  }
  if (text.includes(system.trim()) || text !== attemptOne(input)) return [];
  return [
    {
      kind: 'warning',
      message: "system_prompt: this model's chat template leaves system messages out, so that it changes nothing",
      remedy: 'Leave system_prompt out, or put it into the prompt.',
    },
  ];
}
