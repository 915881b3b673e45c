import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { inputError } from '../errors.ts';
import { readJson } from './config.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Text to token ids and back, as the model folder's own files say. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** Ids of a text; `special` adds what the tokenizer adds by itself (a bos token, say). */
  encode(text: string, special?: boolean): number[];
  /** Text of ids, special tokens left out. */
  decode(ids: readonly number[]): string;
  tokenId(token: string): number | undefined;
  /** Whether the folder brings a chat template; without one a prompt is used as it stands. */
  readonly hasChatTemplate: boolean;
  /** The chat template applied, ready for the assistant's answer. The date is pinned so that prompts are reproducible. */
  chat(messages: readonly ChatMessage[]): string;
  /** The files of the folder that make up the tokenizer; checkpoints carry copies. */
  readonly files: readonly string[];
}

/** The date that templates which print one get. */
const TEMPLATE_DATE = '26 Jul 2024';
const TOKENIZER_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'generation_config.json',
];

/** Reads tokenizer.json, tokenizer_config.json and the chat template of a model folder. */
export function loadTokenizer(folder: string): Tokenizer {
  const definition = readJson(join(folder, 'tokenizer.json')) as object;
  const configFile = join(folder, 'tokenizer_config.json');
  const config = existsSync(configFile) ? (readJson(configFile) as Record<string, unknown>) : {};
  const inner = construct(definition, config, join(folder, 'tokenizer.json'));
  const template = chatTemplate(folder, config);
  return {
    vocabSize: inner.get_vocab(true).size,
    encode: (text, special = false) => inner.encode(text, { add_special_tokens: special }).ids,
    decode: (ids) => (ids.length === 0 ? '' : inner.decode([...ids], { skip_special_tokens: true })),
    tokenId: (token) => inner.token_to_id(token),
    hasChatTemplate: template !== null,
    chat: (messages) => renderChat(template, messages, config, folder),
    files: TOKENIZER_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
  };
}

function construct(definition: object, config: object, file: string): HfTokenizer {
  try {
    return new HfTokenizer(definition, config);
  } catch (cause) {
    const error = inputError(
      'BAD_TOKENIZER',
      `${file}: not a tokenizer that can be read (${(cause as Error).message})`,
      'Take the tokenizer.json of a Hugging Face "fast" tokenizer.',
    );
    throw Object.assign(error, { cause });
  }
}

function chatTemplate(folder: string, config: Record<string, unknown>): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  return typeof config.chat_template === 'string' ? config.chat_template : null;
}

function renderChat(
  template: string | null,
  messages: readonly ChatMessage[],
  config: Record<string, unknown>,
  folder: string,
): string {
  if (template === null)
    throw inputError('NO_CHAT_TEMPLATE', `${folder}: expected a chat template, the tokenizer brings none`);
  return new Template(template).render({
    messages,
    add_generation_prompt: true,
    date_string: TEMPLATE_DATE,
    bos_token: tokenText(config.bos_token),
    eos_token: tokenText(config.eos_token),
  });
}

/** Token settings are a string or an object with its content. */
function tokenText(value: unknown): string {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}

/** Token ids of a task's prompt: through the chat template when the model has one, else the plain text. */
export function encodePrompt(tokenizer: Tokenizer, prompt: string): number[] {
  if (!tokenizer.hasChatTemplate) return tokenizer.encode(prompt, true);
  return tokenizer.encode(tokenizer.chat([{ role: 'user', content: prompt }]));
}
