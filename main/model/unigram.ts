/** What @huggingface/tokenizers' Unigram computes in another way than Hugging Face's Rust library. */
import { append } from '../lists.ts';

interface UnigramModel {
  readonly tokenize?: (piece: string) => readonly string[];
  readonly tokens_to_ids?: ReadonlyMap<string, number>;
}

/**
 * The library spreads a piece's tokens into a call, which holds some 125,000, and doesn't know "byte_fallback": unknown
 * characters become the tokens of their bytes, where the vocabulary has these.
 */
export function unigramAsHuggingFace(model: object, fallsBack: boolean): void {
  const { tokenize, tokens_to_ids: ids } = model as UnigramModel;
  if (tokenize === undefined || ids === undefined) return;
  const tokensOf = (piece: string): readonly string[] => {
    const tokens = tokenize.call(model, piece);
    return fallsBack ? withBytes(tokens, ids) : tokens;
  };
  Object.assign(model, { encode: (pieces: readonly string[]) => pieces.flatMap(tokensOf) });
}

/** Tokens that the vocabulary lacks, those in a row together, as their bytes. */
function withBytes(tokens: readonly string[], ids: ReadonlyMap<string, number>): readonly string[] {
  const encoded: string[] = [];
  let unknown = '';
  const end = (): void => {
    if (unknown !== '') append(encoded, bytesOf(unknown, ids));
    unknown = '';
  };
  for (const token of tokens) {
    if (!ids.has(token)) unknown += token;
    else {
      end();
      encoded.push(token);
    }
  }
  end();
  return encoded;
}

function bytesOf(text: string, ids: ReadonlyMap<string, number>): readonly string[] {
  const names = [...Buffer.from(text)].map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  return names.every((name) => ids.has(name)) ? names : [text];
}
