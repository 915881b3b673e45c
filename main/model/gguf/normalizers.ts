/** What tokenizers change in a text before they cut it: llama.cpp changes nothing but SentencePiece's spaces. */
import { readDefinition } from '../tokenizer-files.ts';
import { type Part, partsOf, preTokenizer } from './pre-tokenizers.ts';

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
  const definition = readDefinition(tokenizerFolder);
  const composes = partsOf(definition.normalizer).some(({ type }) => type === 'NFC');
  const { ignore_merges: ignores } = (definition.model ?? {}) as { readonly ignore_merges?: unknown };
  const simpler = SIMPLER.includes(preTokenizer(definition.pre_tokenizer, ignores === true) ?? '');
  const notes = [...(composes ? [COMPOSED] : []), ...(simpler ? [MARKS] : [])];
  return notes.length === 0 ? null : notes.join(' ');
}

const COMPOSED =
  "This tokenizer composes characters (Unicode NFC) and llama.cpp doesn't: texts with accents as separate characters are cut into other tokens there, all others into the same.";
/** Where llama.cpp replaces the tokenizer's expression by one without classes of marks. */
const SIMPLER: readonly string[] = ['gpt-4o', 'tekken'];
const MARKS =
  "llama.cpp cuts this tokenizer's words by simpler rules: texts with combining marks, such as Hindi, are cut into other tokens there.";
