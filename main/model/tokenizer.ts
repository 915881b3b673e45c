import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { inputError } from '../errors.ts';
import { type ChatMessage, readChatTemplate, renderChat, tokenText } from './chat-template.ts';
import { readJson } from './config.ts';

/** Text to token ids and back, as the model folder's own files say. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** Every id is below this; ids may have gaps. */
  readonly idLimit: number;
  /** Ids of a text; `special` adds what the tokenizer adds by itself (a bos token, say). */
  encode(text: string, special?: boolean): number[];
  /** Text of ids, special tokens left out. */
  decode(ids: readonly number[]): string;
  tokenId(token: string): number | undefined;
  /** The token that ends a completion, as tokenizer_config.json names it. */
  readonly eosTokenId: number | null;
  /** Whether the folder brings a chat template; without one a prompt is used as it stands. */
  readonly hasChatTemplate: boolean;
  /** The chat template applied, ready for the assistant's answer. The date is pinned so that prompts are reproducible. */
  chat(messages: readonly ChatMessage[]): string;
  /** The files of the folder that make up the tokenizer; checkpoints carry copies. */
  readonly files: readonly string[];
}

const TOKENIZER_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'generation_config.json',
];

/** Reads tokenizer.json, tokenizer_config.json and the chat template of a model folder. */
export function loadTokenizer(folder: string): Tokenizer {
  const definition = readObject(join(folder, 'tokenizer.json'));
  const configFile = join(folder, 'tokenizer_config.json');
  const config = existsSync(configFile) ? readObject(configFile) : {};
  const inner = construct(definition, config, join(folder, 'tokenizer.json'));
  const template = readChatTemplate(folder, config);
  const clean = cleansSpaces(definition, config);
  return {
    vocabSize: inner.get_vocab(true).size,
    idLimit: [...inner.get_vocab(true).values()].reduce((most, id) => Math.max(most, id + 1), 0),
    encode: (text, special = false) => inner.encode(text, { add_special_tokens: special }).ids,
    decode: (ids) =>
      ids.length === 0
        ? ''
        : inner.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: clean }),
    tokenId: (token) => inner.token_to_id(token),
    eosTokenId: inner.token_to_id(tokenText(config.eos_token)) ?? null,
    hasChatTemplate: template !== null,
    chat: (messages) => {
      if (template === null)
        throw inputError('NO_CHAT_TEMPLATE', `${folder}: expected a chat template, the tokenizer brings none`);
      return renderChat(template, messages, config, folder);
    },
    files: TOKENIZER_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
  };
}

function readObject(file: string): Readonly<Record<string, unknown>> {
  const value = readJson(file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw inputError('BAD_TOKENIZER', `${file}: expected a JSON object, got ${JSON.stringify(value)?.slice(0, 40)}`);
}

/** Whether decoding takes the space before punctuation away: as transformers 5, only when asked and never for BPE. */
function cleansSpaces(definition: object, config: Readonly<Record<string, unknown>>): boolean {
  const { model } = definition as { model?: { type?: unknown } };
  return config.clean_up_tokenization_spaces === true && model?.type !== 'BPE';
}

/** The library takes such tokens inside words too, where they must not be. */
function checkAddedTokens(definition: object, file: string): void {
  const { added_tokens: added } = definition as { added_tokens?: unknown };
  const tokens = Array.isArray(added) ? (added as { content?: unknown; single_word?: unknown }[]) : [];
  const unsupported = tokens.find((token) => token?.single_word === true);
  if (unsupported === undefined) return;
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected no added token with "single_word", got ${JSON.stringify(unsupported.content)}`,
    'Set "single_word" to false for that token, or take another tokenizer.',
  );
}

function construct(definition: object, config: object, file: string): HfTokenizer {
  checkAddedTokens(definition, file);
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

/** Token ids of a task's prompt: through the chat template when the model has one, else the plain text. */
export function encodePrompt(tokenizer: Tokenizer, prompt: string): number[] {
  if (!tokenizer.hasChatTemplate) return tokenizer.encode(prompt, true);
  return tokenizer.encode(tokenizer.chat([{ role: 'user', content: prompt }]));
}
