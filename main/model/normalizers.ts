/**
 * Rewrites the normalizers of a tokenizer.json that @huggingface/tokenizers computes in another way than Hugging Face's
 * Rust library, as parts that give the same text in both.
 */
type Part = Readonly<Record<string, unknown>>;

/** Characters that BERT puts between spaces; the library misses those beyond 16 bits. */
const RARE_HAN = '[\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2CEAF}\\u{2F800}-\\u{2FA1F}]';

/** A normalizer that the library computes as Hugging Face does. */
export function normalizerAsHuggingFace(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const known = part as Part;
  switch (known.type) {
    case 'Sequence':
      return Array.isArray(known.normalizers)
        ? { ...known, normalizers: known.normalizers.map(normalizerAsHuggingFace) }
        : known;
    case 'Lowercase':
      return sequence(SIGMA, known);
    case 'BertNormalizer':
      return sequence(
        ...(known.handle_chinese_chars === true ? [replace({ Regex: RARE_HAN }, ' $& ')] : []),
        ...(known.lowercase === true ? [SIGMA] : []),
        known,
      );
    case 'Strip':
      // JavaScript's trim removes U+FEFF and keeps U+0085; Rust's does the opposite.
      return sequence(
        ...(known.strip_left === true ? [replace({ Regex: '\\A\\s+' }, '')] : []),
        ...(known.strip_right === true ? [replace({ Regex: '(?<!\\s)\\s+\\z' }, '')] : []),
      );
    case 'Replace':
      // The library reads JavaScript's `$&` in it.
      return typeof known.content === 'string' ? { ...known, content: known.content.replaceAll('$', '$$$$') } : known;
    default:
      return known;
  }
}

/** JavaScript makes a capital sigma at a word's end a final one; Rust lower-cases character by character. */
const SIGMA = replace({ String: 'Σ' }, 'σ');

function replace(pattern: Part, content: string): Part {
  return { type: 'Replace', pattern, content };
}

function sequence(...normalizers: readonly Part[]): Part {
  return { type: 'Sequence', normalizers };
}
