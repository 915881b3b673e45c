/**
 * How llama.cpp (src/llama-vocab.cpp) cuts a text by the metadata of a GGUF file: control and user-defined tokens first,
 * then what lies between them by the kind of the vocabulary. Control tokens in a text count, as in a rendered chat.
 */
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { inputError } from '../../errors.ts';
import { append } from '../../lists.ts';
import { asHuggingFace } from '../pre-tokenizers.ts';
import { TOKEN } from './metadata.ts';
import { isPhi3, SPACED } from './model-name.ts';
import { cutsOf } from './pre-tokenizers.ts';
import type { GgufMetadata } from './read.ts';
import { tokenTypes } from './token-types.ts';

/** Ids of a text, without a begin token that the file asks for; null: llama.cpp ends with an error. */
export type ServedTokenizer = (text: string) => readonly number[] | null;

/** Ids of what lies between control tokens. `afterToken`: whether one comes before it, or nothing. */
type Cut = (text: string, afterToken: boolean) => readonly number[] | null;

/** The tokenizer in a file's metadata. */
export function servedTokenizer(metadata: GgufMetadata): ServedTokenizer {
  const tokens = listOf<string>(metadata, 'tokens');
  const types = tokenTypes(metadata, tokens) ?? [];
  const cut =
    metadata.get('tokenizer.ggml.model') === 'llama' ? byScores(metadata, tokens) : byMerges(metadata, tokens);
  const whole = wholeTokens(tokens, types, isPhi3(String(metadata.get('general.name') ?? '')));
  return (text) => {
    const ids: number[] = [];
    let afterToken = true;
    for (const part of partition(text, whole)) {
      const found = typeof part === 'number' ? [part] : cut(part, afterToken);
      if (found === null) return null;
      append(ids, found);
      afterToken = typeof part === 'number';
    }
    return ids;
  };
}

function listOf<T>(metadata: GgufMetadata, name: string): readonly T[] {
  const value = metadata.get(`tokenizer.ggml.${name}`);
  if (Array.isArray(value)) return value as readonly T[];
  throw inputError('BAD_GGUF', `Expected "tokenizer.ggml.${name}" to be a list`, 'Export it again.');
}

interface WholeToken {
  readonly id: number;
  readonly text: string;
  /** White space after it goes. */
  readonly rstrip: boolean;
}

/** The tokens that are searched for in the text itself, the longest first. */
function wholeTokens(tokens: readonly string[], types: readonly number[], phi3: boolean): readonly WholeToken[] {
  return tokens
    .flatMap((text, id) => {
      const isWhole = types[id] === TOKEN.control || types[id] === TOKEN.userDefined;
      return isWhole && text !== '' ? [{ id, text, rstrip: phi3 && !SPACED.includes(text) }] : [];
    })
    .sort((a, b) => Buffer.byteLength(b.text) - Buffer.byteLength(a.text));
}

/** A text as ids of whole tokens and what lies between them; each token is searched for in all the text that is left. */
function partition(text: string, whole: readonly WholeToken[]): readonly (string | number)[] {
  let parts: (string | number)[] = [text];
  for (const { id, text: token, rstrip } of whole) {
    if (!text.includes(token)) continue;
    parts = parts.flatMap((part) =>
      typeof part === 'number'
        ? [part]
        : part.split(token).flatMap((piece, i) => (i === 0 ? [piece] : [id, rstrip ? piece.trimStart() : piece])),
    );
  }
  return parts.filter((part) => part !== '');
}

/** Byte-level BPE. */
function byMerges(metadata: GgufMetadata, tokens: readonly string[]): Cut {
  const { steps, ignoresMerges } = cutsOf(String(metadata.get('tokenizer.ggml.pre')));
  const inner = new HfTokenizer(
    {
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        // Between a merge's halves is the first space.
        merges: listOf<string>(metadata, 'merges'),
        ignore_merges: ignoresMerges,
      },
      pre_tokenizer: asHuggingFace({ type: 'Sequence', pretokenizers: steps }, 'the GGUF file'),
      added_tokens: [],
      normalizer: null,
      post_processor: null,
      decoder: null,
    },
    {},
  );
  return (text) => inner.encode(text, { add_special_tokens: false }).ids;
}

/** SentencePiece: of neighbours that make a token, those of the highest score are joined first, then the leftmost. */
function byScores(metadata: GgufMetadata, tokens: readonly string[]): Cut {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const scores = listOf<number>(metadata, 'scores');
  const prefix = metadata.get('tokenizer.ggml.add_space_prefix') !== false;
  const bytesOf = (symbol: string): (number | undefined)[] =>
    [...Buffer.from(symbol)].map((byte) => ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`));
  return (text, afterToken) => {
    const symbols = [...`${prefix && afterToken ? ' ' : ''}${text}`.replaceAll(' ', '▁')];
    const scoreAt = (at: number): number => {
      const id = ids.get(`${symbols[at]}${symbols[at + 1]}`);
      return at + 1 >= symbols.length || id === undefined ? Number.NEGATIVE_INFINITY : (scores[id] ?? 0);
    };
    const pairs = symbols.map((_, at) => scoreAt(at));
    for (;;) {
      let best = 0;
      for (let at = 1; at < pairs.length; at++) if ((pairs[at] as number) > (pairs[best] as number)) best = at;
      if (pairs.length === 0 || pairs[best] === Number.NEGATIVE_INFINITY) break;
      symbols.splice(best, 2, `${symbols[best]}${symbols[best + 1]}`);
      pairs.splice(best + 1, 1);
      for (const at of [best - 1, best]) if (at >= 0) pairs[at] = scoreAt(at);
    }
    const found = symbols.flatMap((symbol) => ids.get(symbol) ?? bytesOf(symbol));
    return found.every((id) => id !== undefined) ? found : null;
  };
}
