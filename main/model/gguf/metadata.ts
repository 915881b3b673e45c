/** What a GGUF file says of a model: its shape, and its tokenizer token by token. */
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { isJsonObject } from '../../io/json.ts';
import { readChatSettings, templateWithSettings } from '../chat-settings.ts';
import { readChatTemplate, tokenText } from '../chat-template.ts';
import type { ModelConfig } from '../config.ts';
import { prependScheme } from '../pre-tokenizers.ts';
import { readDefinition, readTokenizerConfig } from '../tokenizer-files.ts';
import { ggufArchitecture } from './architectures.ts';
import { beginOfText } from './begin-of-text.ts';
import type { GgufType, GgufValue } from './file.ts';
import { hyperparameters, uint32 } from './hyperparameters.ts';
import { modelName } from './model-name.ts';
import { changingStep } from './normalizers.ts';
import { partsOf, preTokenizer } from './pre-tokenizers.ts';

/** llama.cpp's numbers for a file whose matrices are of one type. */
const FILE_TYPES: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q8_0: 7 };
/** llama.cpp's kinds of tokens. */
export const TOKEN = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

const string = (value: string): GgufValue => ({ type: 'string', value });
const bool = (value: boolean): GgufValue => ({ type: 'bool', value });

/** The metadata of a model; its tokenizer is in `tokenizerFolder`. */
export function ggufMetadata(
  config: ModelConfig,
  tokenizerFolder: string,
  { name, type }: { readonly name: string; readonly type: GgufType },
): Readonly<Record<string, GgufValue>> {
  const { name: architecture } = ggufArchitecture(config);
  const own = hyperparameters(config);
  return {
    'general.architecture': string(architecture),
    'general.file_type': uint32(FILE_TYPES[type]),
    'general.quantization_version': uint32(2),
    ...Object.fromEntries(Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value])),
    ...tokenizerMetadata(tokenizerFolder, config, name),
  };
}

const addedSchema = z.looseObject({
  id: z.int(),
  content: z.string(),
  special: z.boolean(),
  rstrip: z.boolean().nullish(),
});
type AddedToken = z.infer<typeof addedSchema>;

const definitionSchema = z.looseObject({
  model: z.looseObject({
    type: z.string().nullish(),
    // Not a z.record: it would leave out the token __proto__.
    vocab: z.custom<Readonly<Record<string, number>>>(isJsonObject),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])).nullish(),
    byte_fallback: z.boolean().nullish(),
    ignore_merges: z.boolean().nullish(),
  }),
  added_tokens: z.array(addedSchema).default([]),
  normalizer: z.unknown().optional(),
  pre_tokenizer: z.unknown().optional(),
});

/** With the model's name, as llama.cpp derives how the tokenizer works from it, too. */
function tokenizerMetadata(folder: string, config: ModelConfig, name: string): Record<string, GgufValue> {
  const file = join(folder, 'tokenizer.json');
  const parsed = definitionSchema.safeParse(readDefinition(folder));
  if (!parsed.success) throw unsupportedTokenizer(file, 'it has another kind of vocabulary');
  const { model, added_tokens: added, normalizer, pre_tokenizer: pre } = parsed.data;
  const pieces = isSentencePiece(model, pre);
  const { tokens, types } = tokenTable(
    model.vocab,
    // llama.cpp finds these tokens in the text itself, where SentencePiece's spaces are spaces.
    pieces ? added.map(withSpaces) : added,
    config.vocabSize,
  );
  const settings = readTokenizerConfig(folder);
  const idOf = (name: string): number => tokens.indexOf(tokenText(settings[name]));
  // Targets end with the tokenizer's own. llama.cpp has three keys for tokens after which it stops.
  const [eos = -1, eot = -1, eom = -1] = new Set(
    [idOf('eos_token'), ...config.eosTokenIds].filter((id) => id >= 0 && id < tokens.length),
  );
  const special = {
    bos: idOf('bos_token'),
    unknown: idOf('unk_token'),
    padding: config.padTokenId ?? idOf('pad_token'),
    eos,
    eot,
    eom,
  };
  const template = readChatTemplate(folder, settings);
  const prefix = spacePrefix(normalizer, pre, template !== null);
  return {
    'general.name': string(modelName(name, tokens, added)),
    ...kindOf(model, tokens, types, { normalizer, pre, pieces, prefix, file }),
    ...Object.fromEntries(
      Object.entries(special)
        .filter(([, id]) => id >= 0)
        .map(([name, id]) => [`tokenizer.ggml.${name}_token_id`, uint32(id)]),
    ),
    'tokenizer.ggml.add_bos_token': bool(special.bos >= 0 && beginOfText(folder) !== null),
    ...(template !== null && {
      'tokenizer.chat_template': string(templateWithSettings(template, readChatSettings(folder))),
    }),
  };
}

/** Whether unknown characters become tokens of their bytes; a byte-level tokenizer has a token for each byte anyway. */
function isSentencePiece({ byte_fallback }: TokenizerModel, pre: unknown): boolean {
  return byte_fallback === true && !partsOf(pre).some(({ type }) => type === 'ByteLevel');
}

function isByte(token: string): boolean {
  return /^<0x[0-9A-F]{2}>$/.test(token);
}

function withSpaces(token: AddedToken): AddedToken {
  return token.special ? token : { ...token, content: token.content.replaceAll('▁', ' ') };
}

/** The tokens by id, as many as the embedding has rows, and what each of them is. */
function tokenTable(
  vocab: Readonly<Record<string, number>>,
  added: readonly AddedToken[],
  size: number,
): { readonly tokens: string[]; readonly types: number[] } {
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = Array.from<number>({ length: size }).fill(TOKEN.unused);
  for (const [token, id] of Object.entries(vocab)) {
    if (id >= size) continue;
    tokens[id] = token;
    types[id] = TOKEN.normal;
  }
  for (const { id, content, special } of added) {
    if (id >= size) continue;
    tokens[id] = content;
    types[id] = special ? TOKEN.control : TOKEN.userDefined;
  }
  return { tokens, types };
}

type TokenizerModel = z.infer<typeof definitionSchema>['model'];

interface TokenizerSteps {
  readonly normalizer: unknown;
  readonly pre: unknown;
  /** Whether it is SentencePiece's. */
  readonly pieces: boolean;
  /** Whether a text begins with a space that isn't in it. */
  readonly prefix: boolean;
  readonly file: string;
}

/** The parts that depend on how the tokenizer works. */
function kindOf(
  model: TokenizerModel,
  tokens: readonly string[],
  types: readonly number[],
  { normalizer, pre, pieces, prefix, file }: TokenizerSteps,
): Record<string, GgufValue> {
  const table = (kind: string, named: readonly string[], typed = types): Record<string, GgufValue> => ({
    'tokenizer.ggml.model': string(kind),
    'tokenizer.ggml.tokens': { type: 'strings', value: named },
    'tokenizer.ggml.token_type': { type: 'int32s', value: typed },
  });
  if (model.type === 'WordPiece') {
    // llama.cpp's is BERT's own, which no decoder has.
    throw unsupportedTokenizer(
      file,
      'it is WordPiece, whose texts llama.cpp always lower-cases, strips of accents and splits at punctuation',
    );
  }
  if (model.merges === null || model.merges === undefined)
    throw unsupportedTokenizer(file, `it is a ${model.type ?? 'strange'} model`);
  const spaced = model.merges.find((merge) => typeof merge !== 'string' && merge.some((half) => half.includes(' ')));
  if (spaced !== undefined)
    throw unsupportedTokenizer(file, `a merge has a space in it: ${JSON.stringify(spaced).slice(0, 80)}`);
  const merges = model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')));
  const changing = changingStep(normalizer, pieces);
  if (changing !== null)
    throw unsupportedTokenizer(file, `it changes texts by a normalizer (${changing}) that llama.cpp doesn't have`);
  if (pieces) {
    // Its bytes are tokens like <0x0A>.
    const typed = tokens.map((token, id) => (isByte(token) ? TOKEN.byte : (types[id] as number)));
    if (new Set(tokens.filter(isByte)).size < 256)
      throw unsupportedTokenizer(file, 'it has no token for some bytes, at which llama.cpp ends with an error');
    return {
      ...table('llama', tokens, typed),
      'tokenizer.ggml.scores': { type: 'float32s', value: scoresOf(tokens, merges) },
      // Without it llama.cpp adds one.
      'tokenizer.ggml.add_space_prefix': bool(prefix),
    };
  }
  const cuts = preTokenizer(pre, model.ignore_merges === true);
  if (cuts === null) throw unsupportedTokenizer(file, "it has a pre-tokenizer that llama.cpp isn't known to have");
  return {
    ...table('gpt2', tokens),
    'tokenizer.ggml.pre': string(cuts),
    'tokenizer.ggml.merges': { type: 'strings', value: merges },
  };
}

/** SentencePiece joins what makes the token of the highest score: here that of the earliest merge. */
function scoresOf(tokens: readonly string[], merges: readonly string[]): readonly number[] {
  const ranks = new Map(merges.map((merge, rank) => [merge.replace(' ', ''), rank] as const).reverse());
  return tokens.map((token) => -(ranks.get(token) ?? merges.length));
}

/**
 * Whether a text begins with a space that isn't in it. llama.cpp puts it at the beginning and after each control token, as
 * Prepend and Metaspace do. With "first" only the very beginning has one: in a chat that is a control token.
 */
function spacePrefix(normalizer: unknown, pre: unknown, chats: boolean): boolean {
  return [normalizer, pre].flatMap(partsOf).some((part) => {
    if (part.type === 'Prepend') return true;
    const scheme = prependScheme(part);
    return part.type === 'Metaspace' && (scheme === 'always' || (scheme === 'first' && !chats));
  });
}

/** Of a file or folder: llama.cpp would read its texts in another way. */
export function unsupportedTokenizer(file: string, what: string) {
  return inputError(
    'UNSUPPORTED_TOKENIZER',
    `llama.cpp can't cut texts as this model's tokenizer does: ${what} (${file})`,
    'Export the Hugging Face folder without a GGUF file: transformers reads it, and Serve here gives other programs an address of it.',
  );
}
