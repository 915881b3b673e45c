/** Decoders of a tokenizer.json that @huggingface/tokenizers computes in another way than Hugging Face's Rust library. */
import { prependScheme } from './pre-tokenizers.ts';

/** The library takes the first space away also where none was put before the text. */
export function decoderAsHuggingFace(part: unknown): unknown {
  const { type, replacement, decoders } = (part ?? {}) as Readonly<Record<string, unknown>>;
  if (type === 'Sequence' && Array.isArray(decoders))
    return { type, decoders: decoders.map((one) => decoderAsHuggingFace(one)) };
  if (type !== 'Metaspace' || prependScheme(part) !== 'never') return part;
  return { type: 'Replace', pattern: { String: replacement ?? '▁' }, content: ' ' };
}

interface OpenDecoder {
  readonly config?: { readonly type?: unknown; readonly replacement?: string };
  readonly decoders?: unknown;
  /** Of ByteLevel, by the characters that stand for them. */
  readonly byte_decoder?: Readonly<Record<string, number>>;
}

/**
 * A byte order mark that is spelled in bytes is a character like others; the library drops it. Of the first token
 * Metaspace takes away every space; the library only one. An added token may be spelled in bytes, too.
 */
export function decodeAsHuggingFace(decoder: unknown): void {
  const { config, decoders, byte_decoder: bytes } = (decoder ?? {}) as OpenDecoder;
  if (config?.type === 'ByteFallback') Object.assign(decoder as object, { text_decoder: withMark() });
  if (config?.type === 'Metaspace') {
    const { replacement = '▁' } = config;
    const decode_chain = (tokens: readonly string[]): string[] =>
      tokens.map((token, i) => token.replaceAll(replacement, i === 0 ? '' : ' '));
    Object.assign(decoder as object, { decode_chain });
  }
  if (config?.type === 'ByteLevel' && bytes !== undefined) {
    const [text, utf8] = [withMark(), new TextEncoder()];
    const bytesOf = (token: string): Iterable<number> => {
      const own = [...token].map((character) => bytes[character]);
      return own.every((byte) => byte !== undefined) ? own : utf8.encode(token);
    };
    const decode_chain = (tokens: readonly string[]): string[] => [
      text.decode(Uint8Array.from(tokens.flatMap((token) => [...bytesOf(token)]))),
    ];
    Object.assign(decoder as object, { decode_chain });
  }
  for (const part of Array.isArray(decoders) ? decoders : []) decodeAsHuggingFace(part);
}

function withMark() {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
