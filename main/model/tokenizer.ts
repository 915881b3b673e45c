import { join } from 'node:path';
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { BraidError, inputError } from '../errors.ts';
import { type ChatMessage, type ChatTool, underSystem } from '../samples/chat-message.ts';
import { addedAsHuggingFace } from './added-tokens.ts';
import { type ChatFinding, checkChat, withoutTemplate } from './chat-check.ts';
import { type ChatSettings, readChatSettings } from './chat-settings.ts';
import {
  quotedMessage,
  type RenderedMessage,
  readChatTemplates,
  renderMessages,
  templateReads,
  tokenText,
} from './chat-template.ts';
import { controlTokensOf, encodeQuoting, quoteParts, withoutControlTokens, withoutSpecial } from './control-tokens.ts';
import { decodeAsHuggingFace, decoderAsHuggingFace } from './decoders.ts';
import { fromJs } from './jinja/template.ts';
import { plain, quote, type Str } from './jinja/text.ts';
import { normalizerAsHuggingFace } from './normalizers.ts';
import { templatesByIds } from './post-processors.ts';
import { asHuggingFace } from './pre-tokenizers.ts';
import { shown } from './shown.ts';
import {
  checkAddedIds,
  readDefinition,
  readTokenizerConfig,
  type TokenizerFile,
  tokenizerFiles,
} from './tokenizer-files.ts';
import { limitsOf } from './tokenizer-limits.ts';
import { beforeFirst, callsInWords, describedTools, withSystem } from './tool-prompt.ts';
import { unigramAsHuggingFace } from './unigram.ts';

/** Text to token ids and back, by the model folder's own files. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** Every id is below this; ids may have gaps. */
  readonly idLimit: number;
  /** Ids of a text; `special` includes the tokens that the tokenizer adds by itself (such as a bos token). */
  encode(text: string, special?: boolean): number[];
  /**
   * Ids of a text with somebody's words in it: control tokens inside the `quoted` parts (by default all of it) are
   * characters like all others.
   */
  encodeText(text: string, options?: { readonly special?: boolean; readonly quoted?: readonly string[] }): number[];
  /** Ids of a text that knows which of its characters somebody wrote: control tokens with such are characters. */
  encodeQuoted(text: Str): number[];
  /** The text, knowing that somebody wrote these parts of it. */
  quote(text: string, parts: readonly string[]): Str;
  /** The control tokens that a text quotes. */
  controlTokens(text: string): readonly string[];
  /** Text of ids, special tokens left out. */
  decode(ids: readonly number[]): string;
  tokenId(token: string): number | undefined;
  /** The token of an id as it stands in the vocabulary. */
  token(id: number): string | undefined;
  /** How tokens spell bytes that aren't whole characters: as GPT-2's characters, by names such as <0x0A>, or not. */
  readonly bytesAs: 'characters' | 'names' | null;
  /** The token that stands for what the vocabulary lacks; null: it lacks nothing, or such texts are refused. */
  readonly unknownId: number | null;
  /** The token that ends a completion, as tokenizer_config.json names it. */
  readonly eosTokenId: number | null;
  /** Whether the folder has a chat template; without one a prompt is used as is. */
  readonly hasChatTemplate: boolean;
  /** Whether its chat template tells the model of the functions that it may call. */
  readonly takesTools: boolean;
  /** The chat settings' texts that end a completion. */
  readonly stopStrings: readonly string[];
  /** The chat settings' prompt for posts, with {post} in it; null: the task's own. */
  readonly replyPrompt: string | null;
  /**
   * The chat template applied, ready for the assistant's answer, with the chat settings' system prompt, if any, in place
   * of the messages' own. The date is pinned so that prompts are reproducible. Not `ready`: a finished conversation.
   * `tools`: the functions that the model may call; a template that knows none has them described in the system message.
   */
  chat(messages: readonly ChatMessage[], ready?: boolean, tools?: readonly ChatTool[] | null): string;
  /** Messages with the chat settings' system prompt, if any, in place of their own. */
  asked(messages: readonly ChatMessage[]): readonly ChatMessage[];
  /** The same for messages of `inWords` that know which of their characters somebody wrote. */
  chatQuoting(messages: readonly RenderedMessage[], ready?: boolean, tools?: readonly ChatTool[] | null): Str;
  /** Messages as the chat template can show them: one that knows no tools is given calls and results as words. */
  inWords(messages: readonly ChatMessage[]): readonly ChatMessage[];
  /** What the chat template makes of the chat settings that can't be meant; empty without a template. */
  checkChat(): readonly ChatFinding[];
  /** The files of the folder that make up the tokenizer; checkpoints carry copies. */
  readonly files: readonly TokenizerFile[];
}

/**
 * Every token that ends a completion: the model's own and the tokenizer's, with which targets end. A model fine-tuned
 * with another end token than its base often names it in tokenizer_config.json only.
 */
export function endTokens({ eosTokenId }: Pick<Tokenizer, 'eosTokenId'>, eosTokenIds: readonly number[]): number[] {
  return [...new Set([...eosTokenIds, ...(eosTokenId === null ? [] : [eosTokenId])])];
}

/** Reads tokenizer.json, tokenizer_config.json and the chat template of a model folder; `chat`: its chat settings. */
export function loadTokenizer(folder: string, chat: ChatSettings = readChatSettings(folder)): Tokenizer {
  const config = readTokenizerConfig(folder);
  const definition = readDefinition(folder);
  const file = join(folder, 'tokenizer.json');
  const limited = limitsOf(definition, file);
  const inner = limited(0, () => construct(definition, config, file));
  checkAddedIds(definition, file);
  const { usual: template, withTools } = readChatTemplates(folder, config);
  const clean = cleansSpaces(definition, config);
  const splits = config.split_special_tokens === true;
  // Where all of them are split, none is a control token, whoever wrote it.
  const control = splits ? null : controlTokensOf(definition);
  const encodeBy = (by: HfTokenizer, text: string, special: boolean): number[] =>
    limited(text.length, () => checkedIds(by.encode(text, { add_special_tokens: special }).ids, text, file));
  const whole = (text: string, special = false): number[] => encodeBy(inner, text, special);
  const splitting = splits ? limited(0, () => construct(withoutSpecial(definition), config, file)) : null;
  const encode = (text: string, special = false): number[] => {
    if (splitting === null) return whole(text, special);
    const ids = encodeBy(splitting, text, false);
    return special ? framed(ids, whole) : ids;
  };
  const controlTokens = (text: string): readonly string[] =>
    control === null ? [] : (text.match(control.pattern) ?? []);
  const plainly = new Map<string, HfTokenizer>();
  const plainBy = (mark: string): HfTokenizer => {
    const known = plainly.get(mark);
    if (known !== undefined) return known;
    const files = withoutControlTokens({ definition, config }, mark);
    const unmarked = limited(0, () => construct(files.definition, files.config, file));
    plainly.set(mark, unmarked);
    return unmarked;
  };
  const encodeQuoted = (text: Str): number[] => {
    if (control === null) return encode(plain(text));
    const words = plain(text);
    return limited(words.length, () => checkedIds(encodeQuoting(text, control, inner, plainBy), words, file));
  };
  const takesTools = withTools !== null || (template !== null && readsTools(template, folder));
  const chatQuoting: Tokenizer['chatQuoting'] = (messages, ready = true, tools = null) => {
    if (template === null)
      throw inputError('NO_CHAT_TEMPLATE', `${folder}: expected a chat template, the tokenizer has none`);
    const { chat_template_kwargs: kwargs } = chat;
    const given: readonly RenderedMessage[] = underSystem(messages, chat.system_prompt);
    const input = { template: tools === null ? template : (withTools ?? template), config, folder, kwargs };
    if (takesTools) return renderMessages(input, given, ready, tools && fromJs(tools, bySomebody));
    if (tools === null || tools.length === 0) return renderMessages(input, given, ready);
    const described = describedTools(tools, bySomebody);
    try {
      return renderMessages(input, withSystem(given, described), ready);
    } catch (error) {
      const refused = error instanceof BraidError && error.code === 'SYSTEM_ROLE_REFUSED';
      if (!refused || given[0]?.role === 'system') throw error;
      return renderMessages(input, beforeFirst(given, described), ready);
    }
  };
  const inWords = (messages: readonly ChatMessage[]) =>
    takesTools || template === null ? messages : callsInWords(messages);
  return {
    vocabSize: inner.get_vocab(true).size,
    idLimit: [...inner.get_vocab(true).values()].reduce((most, id) => Math.max(most, id + 1), 0),
    encode,
    encodeText: (text, { special = false, quoted = [text] } = {}) => {
      if (control === null || !quoted.some((part) => part !== '')) return encode(text, special);
      const ids = encodeQuoted(quoteParts(text, quoted, control));
      return special ? framed(ids, encode) : ids;
    },
    encodeQuoted,
    quote: (text, parts) => (control === null ? text : quoteParts(text, parts, control)),
    controlTokens,
    decode: (ids) =>
      ids.length === 0
        ? ''
        : limited(ids.length, () =>
            inner.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: clean }),
          ),
    tokenId: (token) => inner.token_to_id(token),
    token: (id) => inner.id_to_token(id),
    bytesAs: bytesAs(definition),
    unknownId: unknownId(definition, inner),
    eosTokenId: inner.token_to_id(tokenText(config.eos_token)) ?? null,
    hasChatTemplate: template !== null,
    takesTools,
    stopStrings: chat.stop_strings ?? [],
    replyPrompt: chat.reply_prompt,
    chat: (messages, ready = true, tools = null) => plain(chatQuoting(inWords(messages), ready, tools)),
    asked: (messages) => underSystem(messages, chat.system_prompt),
    inWords,
    chatQuoting,
    checkChat: () => {
      const { system_prompt: system, chat_template_kwargs: kwargs } = chat;
      return template === null ? withoutTemplate(kwargs) : checkChat({ template, config, folder, kwargs }, system);
    },
    files: tokenizerFiles(folder),
  };
}

/** By the parts of the decoder. */
function bytesAs(definition: object): Tokenizer['bytesAs'] {
  const decoder = JSON.stringify((definition as { decoder?: unknown }).decoder ?? null);
  if (decoder.includes('"type":"ByteFallback"')) return 'names';
  return decoder.includes('"type":"ByteLevel"') ? 'characters' : null;
}

/** Whether decoding removes the space before punctuation: as in transformers 5, only when configured and never for BPE. */
function cleansSpaces(definition: object, config: Readonly<Record<string, unknown>>): boolean {
  const { model } = definition as { model?: { type?: unknown } };
  return config.clean_up_tokenization_spaces === true && model?.type !== 'BPE';
}

/** The library also matches such tokens inside words, where they must not match. */
function checkAddedTokens(definition: object, file: string): void {
  const { added_tokens: added } = definition as { added_tokens?: unknown };
  const tokens = Array.isArray(added) ? (added as { content?: unknown; single_word?: unknown }[]) : [];
  const unsupported = tokens.find((token) => token?.single_word === true);
  if (unsupported === undefined) return;
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected no added token with "single_word", got ${shown(unsupported.content)}`,
    'Set "single_word" to false for that token, or use another tokenizer.',
  );
}

/** Where a vocabulary names neither a part of a text nor an unknown token, the library gives an id that is none. */
function checkedIds(ids: number[], text: string, file: string): number[] {
  if (ids.every(Number.isInteger)) return ids;
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected a token for every part of ${JSON.stringify(text.slice(0, 40))}, or one for unknown parts`,
    'Take the tokenizer of the model as it was published.',
  );
}

/** The library allocates a list as long as the largest id, which never ends for absurd ids. */
const LARGEST_ID = 2 ** 22;
/** It goes through them for each token that is decoded. */
const MOST_ADDED = 2 ** 16;
/** It tries every part of a word of WordPiece, of 100 characters by default. */
const LONGEST_WORD = 1000;

function checkIds(definition: object, file: string): void {
  const { model, added_tokens: added } = definition as { model?: { vocab?: unknown }; added_tokens?: unknown };
  const vocabulary = typeof model?.vocab === 'object' && !Array.isArray(model.vocab) ? (model.vocab ?? {}) : {};
  const tokens = Array.isArray(added) ? (added as ({ content?: unknown; id?: unknown } | null)[]) : [];
  const { max_input_chars_per_word: word } = (model ?? {}) as { max_input_chars_per_word?: unknown };
  if (tokens.length > MOST_ADDED || (typeof word === 'number' && word > LONGEST_WORD))
    throw inputError(
      'BAD_TOKENIZER',
      `${file}: expected at most ${MOST_ADDED} added tokens, and at most ${LONGEST_WORD} as "max_input_chars_per_word"`,
      'Use the tokenizer.json of another model.',
    );
  const ids = [...Object.entries(vocabulary), ...tokens.map((token) => [token?.content, token?.id] as const)];
  const wrong = ids.find(([, id]) => !(Number.isInteger(id) && (id as number) >= 0 && (id as number) < LARGEST_ID));
  if (wrong === undefined) return;
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected the id of token ${shown(wrong[0])} to be a whole number from 0, below ${LARGEST_ID}, got ${shown(wrong[1])}`,
    'Copy or download the tokenizer again.',
  );
}

/** The library reads WordLevel's token for unknown words from tokenizer_config.json only. */
function unknownToken(model: unknown): { unk_token?: string } {
  const { type, unk_token } = (model ?? {}) as Readonly<Record<string, unknown>>;
  return type === 'WordLevel' && typeof unk_token === 'string' ? { unk_token } : {};
}

/** Unigram names it by its id, the other models by its text. */
function unknownId({ model }: { readonly model?: unknown }, inner: HfTokenizer): number | null {
  const { unk_id, unk_token } = (model ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof unk_id === 'number') return unk_id;
  return typeof unk_token === 'string' ? (inner.token_to_id(unk_token) ?? null) : null;
}

/** The library ignores such a prefix in a BPE model, and its ids would be others; also merges left out by chance. */
function checkBpe(model: unknown, file: string): void {
  const { type, continuing_subword_prefix: prefix, dropout } = (model ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'BPE') return;
  if (typeof dropout === 'number' && dropout > 0)
    throw inputError(
      'BAD_TOKENIZER',
      `${file}: expected a BPE model without "dropout", got ${dropout}: the same text would have other tokens each time`,
      'Set "dropout" to null there: a model that was trained with it reads texts without it.',
    );
  if (typeof prefix !== 'string' || prefix === '') return;
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected a BPE model without "continuing_subword_prefix", got ${shown(prefix)}`,
    'Use the tokenizer.json of another model.',
  );
}

function construct(definition: object, config: object, file: string): HfTokenizer {
  checkAddedTokens(definition, file);
  checkIds(definition, file);
  checkBpe((definition as { model?: unknown }).model, file);
  const { pre_tokenizer, normalizer, decoder, model } = definition as Readonly<Record<string, unknown>>;
  const parts = {
    pre_tokenizer: asHuggingFace(pre_tokenizer, file),
    // Without one the library would look for all added tokens at once.
    normalizer: normalizerAsHuggingFace(normalizer ?? { type: 'Sequence', normalizers: [] }),
    decoder: decoderAsHuggingFace(decoder),
  };
  const inner = new HfTokenizer({ ...definition, ...parts }, { ...unknownToken(model), ...config });
  decodeAsHuggingFace(inner.decoder);
  templatesByIds(inner.post_processor, (id) => inner.id_to_token(id));
  const { vocab, byte_fallback } = (model ?? {}) as { vocab?: unknown; byte_fallback?: unknown };
  addedAsHuggingFace(inner, vocab);
  if (Array.isArray(vocab)) unigramAsHuggingFace(inner.model ?? {}, byte_fallback === true);
  return inner;
}

/** Ids with what the tokenizer puts before and after every text. */
function framed(ids: readonly number[], encode: Tokenizer['encode']): number[] {
  const inner = encode('a');
  const outer = encode('a', true);
  const begin = outer.findIndex((_, at) => inner.every((id, i) => outer[at + i] === id));
  return [...outer.slice(0, begin), ...ids, ...outer.slice(begin + inner.length)];
}

/**
 * Token ids of a task's prompt: through the chat template if the model has one, otherwise the plain text. `quoted`: the
 * parts of the prompt that somebody wrote, as opposed to its template. `messages`: the prompt as a chat, if it is more
 * than one message of the user.
 */
export function encodePrompt(
  tokenizer: Tokenizer,
  prompt: string,
  quoted: readonly string[],
  messages?: readonly ChatMessage[],
  tools?: readonly ChatTool[],
): number[] {
  if (!tokenizer.hasChatTemplate) return tokenizer.encodeText(prompt, { quoted, special: true });
  const asked = messages ?? [{ role: 'user' as const, content: prompt }];
  const quoting = tokenizer
    .inWords(asked)
    .map((message) => quotedMessage(message, (words) => tokenizer.quote(words, quoted)));
  return tokenizer.encodeQuoted(tokenizer.chatQuoting(quoting, true, tools ?? null));
}

/**
 * Token ids of a finished conversation, as a reward model reads it, or `ready` for the assistant's answer; control tokens
 * in the messages are characters.
 */
export function encodeConversation(tokenizer: Tokenizer, messages: readonly ChatMessage[], ready = false): number[] {
  return tokenizer.encodeQuoted(quotedChat(tokenizer, messages, ready));
}

/** The chat template applied to what somebody said. */
export function quotedChat(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  ready: boolean,
  tools: readonly ChatTool[] | null = null,
): Str {
  return tokenizer.chatQuoting(tokenizer.inWords(messages).map(saidBySomebody), ready, tools);
}

/** A message whose control tokens are characters. */
export function saidBySomebody(message: ChatMessage): RenderedMessage {
  return quotedMessage(message, bySomebody);
}

function bySomebody(words: string): Str {
  return quote(words, SOMEBODY);
}

/** The source of words that somebody wrote. */
export const SOMEBODY = 0;

/** Whether a template shows the functions that may be called; one that can't be read says so when it is used. */
function readsTools(template: string, folder: string): boolean {
  try {
    return templateReads(template, folder).has('tools');
  } catch {
    return false;
  }
}
