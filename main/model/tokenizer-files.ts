/** The files of a tokenizer as transformers reads them together: a token may be named in any of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { isJsonObject } from '../io/json.ts';
import { readRegular } from '../io/read-file.ts';
import { largest } from '../lists.ts';
import { CHAT_SETTINGS } from './chat-settings.ts';
import { ADDITIONAL_TEMPLATES, templateFiles, tokenText } from './chat-template.ts';
import { readJson } from './config.ts';
import { shown } from './shown.ts';

type Settings = Readonly<Record<string, unknown>>;

/** Vocabularies of 260,000 tokens with their merges take 35 MB, those of settings that list them 1 MB. */
const LARGEST_DEFINITION = 2 ** 27;
const LARGEST_CONFIG = 2 ** 24;
const CONFIG = 'tokenizer_config.json';

/** What makes up a tokenizer; checkpoints and exports have copies. */
const TOKENIZER_FILES = [
  'tokenizer.json',
  CONFIG,
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'generation_config.json',
  CHAT_SETTINGS,
];

export interface TokenizerFile {
  readonly name: string;
  readonly content: () => string | Uint8Array;
}

/** A folder's files of a tokenizer. Its copies have no folders in them: there tokenizer_config.json lists the templates. */
export function tokenizerFiles(folder: string): readonly TokenizerFile[] {
  const names = TOKENIZER_FILES.filter((name) => existsSync(join(folder, name)));
  const copy = (name: string): TokenizerFile => ({ name, content: () => readRegular(join(folder, name)) });
  if (!existsSync(join(folder, ADDITIONAL_TEMPLATES))) return names.map(copy);
  const templates = [...templateFiles(folder)].map(([name, template]) => ({ name, template }));
  const content = (): string => {
    const config = readIfThere(folder, CONFIG);
    return `${JSON.stringify(templates.length === 0 ? config : { ...config, chat_template: templates }, null, 2)}\n`;
  };
  const others = names.filter((name) => name !== CONFIG && name !== 'chat_template.jinja');
  return [...others.map(copy), { name: CONFIG, content }];
}

/** What a class of transformers names where no file does. */
const CLASS_TOKENS: Settings = {
  LlamaTokenizer: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' },
  GemmaTokenizer: { bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>' },
  Qwen2Tokenizer: { eos_token: '<|endoftext|>', unk_token: '<|endoftext|>', pad_token: '<|endoftext|>' },
  GPT2Tokenizer: { bos_token: '<|endoftext|>', eos_token: '<|endoftext|>', unk_token: '<|endoftext|>' },
};

/**
 * A folder's tokenizer_config.json; empty where there is none. Where it has no "added_tokens_decoder", as older versions
 * of transformers wrote it, special_tokens_map.json names the special tokens and added_tokens.json the others.
 */
export function readTokenizerConfig(folder: string): Settings {
  const settings = readSettings(folder);
  const { tokenizer_class: given } = settings;
  const name = typeof given === 'string' ? given.replace(/Fast$/, '') : '';
  return { ...(Object.hasOwn(CLASS_TOKENS, name) && (CLASS_TOKENS[name] as Settings)), ...settings };
}

function readSettings(folder: string): Settings {
  const config = readIfThere(folder, CONFIG);
  const settings = Object.hasOwn(config, 'added_tokens_decoder')
    ? config
    : { ...config, ...readIfThere(folder, 'special_tokens_map.json'), ...addedTokens(folder) };
  for (const key of NAMED_TOKENS) checkToken(settings[key], key, folder);
  return settings;
}

/** The tokens of added_tokens.json, as newer versions write them. */
function addedTokens(folder: string): Settings {
  const ids = Object.entries(readIfThere(folder, 'added_tokens.json'));
  if (ids.length === 0) return {};
  return { added_tokens_decoder: Object.fromEntries(ids.map(([content, id]) => [String(id), { content }])) };
}

const NAMED_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'pad_token', 'sep_token', 'cls_token', 'mask_token'];

function checkToken(value: unknown, key: string, folder: string): void {
  if (value === undefined || value === null || typeof value === 'string' || tokenText(value) !== '') return;
  throw inputError(
    'BAD_TOKENIZER',
    `${folder}: expected "${key}" of tokenizer_config.json or special_tokens_map.json to be a text or an object with "content", got ${shown(value)}`,
    'Fix it there, or copy the tokenizer of the model as it was published.',
  );
}

/** A folder's tokenizer.json, with the special tokens that its other files name. */
export function readDefinition(folder: string): Settings {
  return withNamedTokens(readObject(join(folder, 'tokenizer.json'), LARGEST_DEFINITION), readSettings(folder));
}

interface Token {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** Hugging Face's library reads no ids of added tokens: it takes the vocabulary's, or counts on from its size. */
export function checkAddedIds({ added_tokens: added, model }: Settings, file: string): void {
  const vocab = idsOf(model);
  let next = vocab.size;
  const seen = new Map<string, number>();
  for (const { content, id } of Array.isArray(added) ? (added as Token[]) : []) {
    const theirs = seen.get(content) ?? vocab.get(content) ?? (content === '' ? next : next++);
    seen.set(content, theirs);
    if (id === theirs || content === '') continue;
    throw inputError(
      'BAD_TOKENIZER',
      `${file}: the added token ${shown(content)} has the id ${id}, where Hugging Face's library gives it ${theirs}`,
      'Copy or download the tokenizer again, or save it with the library.',
    );
  }
}

/** A vocabulary, which Unigram models have as [token, score]. */
function idsOf(model: unknown): ReadonlyMap<string, number> {
  const { vocab } = (model ?? {}) as { vocab?: unknown };
  if (Array.isArray(vocab))
    return new Map((vocab as unknown[]).map((entry, id) => [String(Array.isArray(entry) ? entry[0] : entry), id]));
  return new Map(Object.entries(isJsonObject(vocab) ? (vocab as Readonly<Record<string, number>>) : {}));
}

/** transformers adds the tokens that tokenizer.json doesn't have, and makes special those that others call so. */
function withNamedTokens(definition: Settings, settings: Settings): Settings {
  const { added_tokens: given, model } = definition;
  const added = new Map((Array.isArray(given) ? (given as Token[]) : []).map((token) => [token?.content, token]));
  const vocab = idsOf(model);
  let next: number | null = null;
  const freeId = (): number => {
    next ??= largest([...vocab.values(), ...[...added.values()].map((token) => token?.id)].map(Number), -1);
    next += 1;
    return next;
  };
  let changed = false;
  for (const token of namedTokens(settings)) {
    const known = added.get(token.content);
    if (known !== undefined && (known.special || !token.special)) continue;
    const own = vocab.get(token.content);
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: !token.special, ...token };
    added.set(token.content, known === undefined ? { ...flags, id: own ?? freeId() } : { ...known, special: true });
    changed = true;
  }
  return changed ? { ...definition, added_tokens: [...added.values()] } : definition;
}

/** The tokens of "added_tokens_decoder", then the special ones that are named. */
function namedTokens(settings: Settings): readonly Omit<Token, 'id'>[] {
  const { added_tokens_decoder: decoder, extra_special_tokens: extra, additional_special_tokens: more } = settings;
  const listed = Object.values(isJsonObject(decoder) ? decoder : {}).filter(isJsonObject);
  const special = [
    // New ones get ids in this order.
    ...NAMED_TOKENS.map((key) => settings[key]),
    ...Object.entries(settings).flatMap(([key, value]) => (key.endsWith('_token') ? [value] : [])),
    ...[extra, more].flatMap((tokens) => (Array.isArray(tokens) ? tokens : Object.values(tokens ?? {}))),
  ];
  return [
    ...listed.map(({ __type, ...token }) => ({ ...token, content: tokenText(token), special: token.special === true })),
    ...special.map((token) => ({ ...(isJsonObject(token) ? token : {}), content: tokenText(token), special: true })),
  ].filter(({ content }) => content !== '');
}

function readIfThere(folder: string, name: string): Settings {
  const file = join(folder, name);
  return existsSync(file) ? readObject(file, LARGEST_CONFIG) : {};
}

function readObject(file: string, most: number): Settings {
  const value = readJson(file, most);
  if (isJsonObject(value)) return value;
  throw inputError('BAD_TOKENIZER', `${file}: expected a JSON object, got ${shown(value)}`);
}
