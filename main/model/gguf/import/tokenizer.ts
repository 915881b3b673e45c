/** A GGUF file's tokenizer as the files of a Hugging Face folder. */
import { inputError } from '../../../errors.ts';
import { shown } from '../../shown.ts';
import { TOKEN } from '../metadata.ts';
import { isPhi3, SPACED } from '../model-name.ts';
import { cutsOf, knownCuts } from '../pre-tokenizers.ts';
import type { GgufMetadata } from '../read.ts';
import { tokenTypes } from '../token-types.ts';
import { mergesOf } from './merges.ts';

type Part = Readonly<Record<string, unknown>>;

export interface GgufTokenizer {
  /** tokenizer.json. */
  readonly definition: Part;
  /** tokenizer_config.json. */
  readonly settings: Part;
  /** chat_template.jinja; null: it has none. */
  readonly template: string | null;
  /** Special tokens by what they are for. */
  readonly ids: { readonly bos: number | null; readonly pad: number | null; readonly ends: readonly number[] };
}

/** Far beyond any vocabulary: what is longer isn't a token. */
const LONGEST_TOKEN = 1000;

/** `path`: for errors. `rows`: of the embedding. */
export function ggufTokenizer(
  metadata: GgufMetadata,
  { path, rows }: { readonly path: string; readonly rows: number },
): GgufTokenizer {
  const vocabulary = readVocabulary(metadata, path, rows);
  const { tokens, types } = vocabulary;
  const idOf = (name: string): number | null => {
    const id = metadata.get(`tokenizer.ggml.${name}_token_id`);
    return typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < tokens.length ? id : null;
  };
  const nameOf = (id: number | null): string | null => (id === null ? null : (tokens[id] ?? null));
  const [bos, pad, unknown] = [idOf('bos'), idOf('padding'), idOf('unknown')];
  const ends = [...new Set(['eos', 'eot', 'eom'].map(idOf).filter((id) => id !== null))];
  const template = metadata.get('tokenizer.chat_template');
  checkTokenizerKind(metadata, path);
  const pieces = metadata.get('tokenizer.ggml.model') === 'llama';
  const usual = pieces || knownCuts(String(metadata.get('tokenizer.ggml.pre')))?.begins;
  const begins = bos !== null && (metadata.get('tokenizer.ggml.add_bos_token') ?? usual) === true;
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens(vocabulary, isPhi3(String(metadata.get('general.name') ?? ''))),
    ...(pieces ? sentencePiece(metadata, vocabulary, nameOf(unknown)) : byteLevel(metadata, vocabulary, path)),
    post_processor: begins ? beginWith(nameOf(bos) ?? '', bos) : null,
  };
  // What is named here is found whole in texts, which an ordinary token isn't.
  const specialOf = (id: number | null) => (id === null || types[id] === TOKEN.normal ? null : nameOf(id));
  const settings = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    add_prefix_space: false,
    bos_token: specialOf(bos),
    eos_token: specialOf(ends[0] ?? null),
    pad_token: specialOf(pad),
    unk_token: specialOf(unknown),
  };
  refuseStrangeTypes(types, path);
  return { definition, settings, template: typeof template === 'string' ? template : null, ids: { bos, pad, ends } };
}

/** Refuses kinds of vocabularies that can't be turned into a tokenizer.json; the lists aren't needed for it. */
export function checkTokenizerKind(metadata: GgufMetadata, path: string): void {
  const [kind, pre] = ['model', 'pre'].map((name) => metadata.get(`tokenizer.ggml.${name}`));
  if (kind === 'llama') return;
  if (kind !== 'gpt2')
    throw unsupported(
      path,
      `its vocabulary is of the kind ${shown(kind)}, not "gpt2" (BPE) or "llama" (SentencePiece)`,
    );
  if (typeof pre === 'string' && knownCuts(pre) !== null) return;
  throw unsupported(path, `it cuts texts as ${pre === undefined ? 'nobody says' : shown(pre)} ("tokenizer.ggml.pre")`);
}

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
}

function readVocabulary(metadata: GgufMetadata, path: string, rows: number): Vocabulary {
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const isList =
    Array.isArray(tokens) && tokens.every((token) => typeof token === 'string' && token.length <= LONGEST_TOKEN);
  const types = isList ? tokenTypes(metadata, tokens) : null;
  if (!isList || types === null) throw unsupported(path, 'it has no list of tokens');
  if (tokens.length > rows) throw unsupported(path, `it has ${tokens.length} tokens, and the model has ${rows}`);
  if (types.length !== tokens.length)
    throw unsupported(path, `it has ${tokens.length} tokens, and types of ${types.length}`);
  return { tokens, types };
}

function refuseStrangeTypes(types: readonly number[], path: string): void {
  const strange = types.find((type) => !Object.values<number>(TOKEN).includes(type));
  if (strange !== undefined) throw unsupported(path, `a token is of the kind ${strange}`);
}

/** Tokens that are found in the text itself, before it is cut. */
function addedTokens({ tokens, types }: Vocabulary, phi3: boolean): readonly Part[] {
  return tokens.flatMap((content, id) => {
    const special = types[id] === TOKEN.control || types[id] === TOKEN.unknown;
    if ((!special && types[id] !== TOKEN.userDefined) || content === '') return [];
    const rstrip = phi3 && special && !SPACED.includes(content);
    return [{ id, content, single_word: false, lstrip: false, rstrip, normalized: false, special }];
  });
}

/** Rows of the embedding that no token has; the export names them so. */
function isFiller(token: string, type: number | undefined): boolean {
  return type === TOKEN.unused && /^\[PAD\d+\]$/.test(token);
}

function vocabularyOf({ tokens, types }: Vocabulary): Record<string, number> {
  // Not an object literal's key: the token __proto__ would be lost.
  const named = tokens.flatMap((token, id) => (isFiller(token, types[id]) ? [] : [[token, id] as const]));
  return Object.fromEntries(named);
}

function byteLevel(metadata: GgufMetadata, vocabulary: Vocabulary, path: string): Part {
  const cuts = cutsOf(String(metadata.get('tokenizer.ggml.pre')));
  const merges = metadata.get('tokenizer.ggml.merges');
  if (!Array.isArray(merges)) throw unsupported(path, 'it has no list of merges');
  return {
    // Qwen's composes characters, which llama.cpp leaves out.
    normalizer: cuts.family === 'qwen2' || cuts.family === 'qwen35' ? { type: 'NFC' } : null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: cuts.steps },
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: cuts.ignoresMerges,
      vocab: vocabularyOf(vocabulary),
      // Between a merge's halves is the first space.
      merges: merges.map((merge) => halvesOf(merge, path)),
    },
  };
}

function halvesOf(merge: unknown, path: string): readonly [string, string] {
  const at = typeof merge === 'string' ? merge.indexOf(' ', 1) : -1;
  if (at < 0) throw unsupported(path, `a merge is ${shown(merge)}`);
  return [String(merge).slice(0, at), String(merge).slice(at + 1)];
}

function sentencePiece(metadata: GgufMetadata, vocabulary: Vocabulary, unknown: string | null): Part {
  const prefix = metadata.get('tokenizer.ggml.add_space_prefix') !== false;
  const scores = metadata.get('tokenizer.ggml.scores');
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  const start = { type: 'Prepend', prepend: '▁' };
  const text = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  return {
    normalizer: { type: 'Sequence', normalizers: prefix ? [start, spaces] : [spaces] },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [text, { type: 'ByteFallback' }, { type: 'Fuse' }, ...(prefix ? [strip] : [])],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab: vocabularyOf(vocabulary),
      merges: mergesOf(vocabulary, Array.isArray(scores) ? (scores as readonly number[]) : []),
    },
  };
}

function beginWith(token: string, id: number): Part {
  const begin = { SpecialToken: { id: token, type_id: 0 } };
  const [first, second] = ['A', 'B'].map((name, at) => ({ Sequence: { id: name, type_id: at } }));
  return {
    type: 'TemplateProcessing',
    single: [begin, first],
    pair: [begin, first, { SpecialToken: { id: token, type_id: 1 } }, second],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function unsupported(path: string, what: string) {
  return inputError(
    'UNSUPPORTED_TOKENIZER',
    `${path}: ${what}, which Braid can't turn into a tokenizer.json`,
    'Use the Hugging Face folder of the same model.',
  );
}
