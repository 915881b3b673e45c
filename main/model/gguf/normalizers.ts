/** What tokenizers change in a text before they cut it: llama.cpp changes nothing but SentencePiece's spaces. */
import { join } from 'node:path';
import { readJson } from '../config.ts';
import { type Part, partsOf } from './pre-tokenizers.ts';

/** SentencePiece's, which llama.cpp does by itself for tokenizers with byte fallback. */
function isSpaceMarker({ type, pattern, content, prepend }: Part): boolean {
  if (type === 'Prepend') return prepend === '▁';
  const { String: replaced } = (pattern ?? {}) as { readonly String?: unknown };
  return type === 'Replace' && replaced === ' ' && content === '▁';
}

/** The first step that changes texts which llama.cpp leaves as they are; null: none but composing characters. */
export function changingStep(normalizer: unknown, byteFallback: boolean): string | null {
  const other = partsOf(normalizer).find((part) => part.type !== 'NFC' && !(byteFallback && isSpaceMarker(part)));
  return other?.type ?? null;
}

/** What a folder's tokenizer does that llama.cpp doesn't, though most texts are cut the same; null: nothing. */
export function ggufNote(tokenizerFolder: string): string | null {
  const { normalizer } = readJson(join(tokenizerFolder, 'tokenizer.json')) as { readonly normalizer?: unknown };
  if (!partsOf(normalizer).some(({ type }) => type === 'NFC')) return null;
  return "This tokenizer composes characters (Unicode NFC) and llama.cpp doesn't: texts with accents as separate characters are cut into other tokens there, all others into the same.";
}
