/** What a GGUF file says of a model: its shape, and its tokenizer token by token. */
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { readChatSettings, templateWithSettings } from '../chat-settings.ts';
import { readChatTemplate, tokenText } from '../chat-template.ts';
import { type ModelConfig, readJson } from '../config.ts';
import { readTokenizerConfig } from '../tokenizer.ts';
import { ggufArchitecture } from './architectures.ts';
import { beginOfText } from './begin-of-text.ts';
import type { GgufType, GgufValue } from './file.ts';
import { modelName } from './model-name.ts';
import { changingStep } from './normalizers.ts';
import { partsOf, preTokenizer } from './pre-tokenizers.ts';

/** llama.cpp's numbers for a file whose matrices are of one type. */
const FILE_TYPES: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q8_0: 7 };
const TOKEN = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
const float32 = (value: number): GgufValue => ({ type: 'float32', value });
const string = (value: string): GgufValue => ({ type: 'string', value });
const bool = (value: boolean): GgufValue => ({ type: 'bool', value });

/** The metadata of a model; its tokenizer is in `tokenizerFolder`. */
export function ggufMetadata(
  config: ModelConfig,
  tokenizerFolder: string,
  { name, type }: { readonly name: string; readonly type: GgufType },
): Readonly<Record<string, GgufValue>> {
  const gemma = config.modelType === 'gemma3_text';
  const { name: architecture } = ggufArchitecture(config);
  const own = {
    vocab_size: uint32(config.vocabSize),
    // llama.cpp knows windows of Gemma only; within a window the others are right.
    context_length: uint32(Math.min(config.maxPositionEmbeddings, (gemma ? null : config.window) ?? Infinity)),
    embedding_length: uint32(config.hiddenSize),
    block_count: uint32(config.numLayers),
    feed_forward_length: uint32(config.intermediateSize),
    'attention.head_count': uint32(config.numHeads),
    'attention.head_count_kv': uint32(config.numKvHeads),
    'attention.key_length': uint32(config.headDim),
    'attention.value_length': uint32(config.headDim),
    'attention.layer_norm_rms_epsilon': float32(config.rmsNormEps),
    'rope.dimension_count': uint32(config.rotaryDim ?? config.headDim),
    'rope.freq_base': float32(config.ropeTheta),
    ...(gemma && config.window !== null && { 'attention.sliding_window': uint32(config.window) }),
    ...(config.longRope !== null && {
      'rope.scaling.attn_factor': float32(config.longRope.attentionFactor),
      'rope.scaling.original_context_length': uint32(config.longRope.originalMaxPositionEmbeddings),
    }),
    ...(config.modelType === 'granite' && {
      'attention.scale': float32(config.attentionScale ?? config.headDim ** -0.5),
      embedding_scale: float32(config.embeddingScale),
      residual_scale: float32(config.residualScale),
      logit_scale: float32(config.logitsScale),
    }),
  };
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
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.unknown())]),
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
  const parsed = definitionSchema.safeParse(readJson(file));
  if (!parsed.success || Array.isArray(parsed.data.model.vocab))
    throw unsupported(file, 'it has another kind of vocabulary');
  const { model, added_tokens: added, normalizer, pre_tokenizer: pre } = parsed.data;
  const { tokens, types } = tokenTable(
    model.vocab as Record<string, number>,
    // llama.cpp finds these tokens in the text itself, where SentencePiece's spaces are spaces.
    model.byte_fallback === true ? added.map(withSpaces) : added,
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
    ...{ eos, eot, eom },
  };
  const template = readChatTemplate(folder, settings);
  const prefix = spacePrefix(normalizer, pre, template !== null);
  return {
    'general.name': string(modelName(name, tokens, added)),
    ...kindOf(model, tokens, types, { normalizer, pre, prefix, file }),
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
  /** Whether a text begins with a space that isn't in it. */
  readonly prefix: boolean;
  readonly file: string;
}

/** The parts that depend on how the tokenizer works. */
function kindOf(
  model: TokenizerModel,
  tokens: readonly string[],
  types: readonly number[],
  { normalizer, pre, prefix, file }: TokenizerSteps,
): Record<string, GgufValue> {
  const table = (kind: string, named: readonly string[], typed = types): Record<string, GgufValue> => ({
    'tokenizer.ggml.model': string(kind),
    'tokenizer.ggml.tokens': { type: 'strings', value: named },
    'tokenizer.ggml.token_type': { type: 'int32s', value: typed },
  });
  if (model.type === 'WordPiece') {
    // llama.cpp's is BERT's own, which no decoder has.
    throw unsupported(
      file,
      'it is WordPiece, whose texts llama.cpp always lower-cases, strips of accents and splits at punctuation',
    );
  }
  if (model.merges === null || model.merges === undefined)
    throw unsupported(file, `it is a ${model.type ?? 'strange'} model`);
  const changing = changingStep(normalizer, model.byte_fallback === true);
  if (changing !== null)
    throw unsupported(file, `it changes texts by a normalizer (${changing}) that llama.cpp doesn't have`);
  if (model.byte_fallback === true) {
    // SentencePiece's order of merging is the order of ids; its bytes are tokens like <0x0A>.
    const typed = tokens.map((token, id) => (/^<0x[0-9A-F]{2}>$/.test(token) ? TOKEN.byte : (types[id] as number)));
    return {
      ...table('llama', tokens, typed),
      'tokenizer.ggml.scores': { type: 'float32s', value: tokens.map((_, id) => -id) },
      // Without it llama.cpp adds one.
      'tokenizer.ggml.add_space_prefix': bool(prefix),
    };
  }
  const cuts = preTokenizer(pre, model.ignore_merges === true);
  if (cuts === null) throw unsupported(file, "it has a pre-tokenizer that llama.cpp isn't known to have");
  const merges = model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')));
  return {
    ...table('gpt2', tokens),
    'tokenizer.ggml.pre': string(cuts),
    'tokenizer.ggml.merges': { type: 'strings', value: merges },
  };
}

/**
 * Whether a text begins with a space that isn't in it. llama.cpp puts it at the beginning and after each control token, as
 * Prepend and Metaspace do. With "first" only the very beginning has one: in a chat that is a control token.
 */
function spacePrefix(normalizer: unknown, pre: unknown, chats: boolean): boolean {
  return [normalizer, pre].flatMap(partsOf).some(({ type, prepend_scheme: scheme, add_prefix_space: adds }) => {
    if (type === 'Prepend') return true;
    if (type !== 'Metaspace') return false;
    // Older files say yes or no, by default yes.
    return scheme === undefined ? adds !== false : scheme === 'always' || (scheme === 'first' && !chats);
  });
}

function unsupported(file: string, what: string) {
  return inputError(
    'UNSUPPORTED_TOKENIZER',
    `llama.cpp can't cut texts as this model's tokenizer does: ${what} (${file})`,
    'Export the Hugging Face folder without --gguf and convert it with llama.cpp.',
  );
}
