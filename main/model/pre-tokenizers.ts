/**
 * Rewrites the pre-tokenizers of a tokenizer.json that @huggingface/tokenizers computes in another way than Hugging
 * Face's Rust library, as `Split` parts with regular expressions that give the same pieces in both.
 */
import { inputError } from '../errors.ts';

type Part = Readonly<Record<string, unknown>>;

/** Rust's \w and \s; the library's Whitespace has JavaScript's, which know ASCII letters only. */
const WORDS = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]+';
const OTHERS = '[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}\\s]+';
/** Unicode's punctuation and ASCII's symbols. Hugging Face lacks some 140 marks that Unicode added after version 8. */
const PUNCTUATION = '[\\p{P}$+<=>\\^`|~]';
/** GPT-2's words. */
const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** A pre-tokenizer, or a list of them, that the library computes as Hugging Face does. `file`: for errors. */
export function asHuggingFace(part: unknown, file: string): unknown {
  if (Array.isArray(part)) return part.map((one) => asHuggingFace(one, file));
  if (typeof part !== 'object' || part === null) return part;
  const known = part as Part;
  switch (known.type) {
    case 'Whitespace':
      return { ...split(`${WORDS}|${OTHERS}`, 'Removed'), invert: true };
    case 'WhitespaceSplit':
      return split('\\s+', 'Removed');
    case 'BertPreTokenizer':
      return { type: 'Sequence', pretokenizers: [split('\\s+', 'Removed'), split(PUNCTUATION, 'Isolated')] };
    case 'FixedLength':
      // The library counts the halves of characters beyond 16 bits.
      return split(`[\\s\\S]{1,${known.length ?? 5}}`, 'Isolated');
    case 'Punctuation':
      return behaving(split(PUNCTUATION, known.behavior ?? 'Isolated'), file);
    case 'Digits':
      // The library knows ASCII digits only, Hugging Face every numeric character (½ ² ① ٣).
      return split(known.individual_digits === true ? '\\p{N}' : '\\p{N}+', 'Isolated');
    case 'ByteLevel':
      return byteLevel(known);
    case 'Split':
      return behaving(known, file);
    case 'Metaspace':
      return metaspace(known, file);
    case 'Sequence':
      return sequence(known, file);
    default:
      return Object.fromEntries(Object.entries(known).map(([name, value]) => [name, asHuggingFace(value, file)]));
  }
}

/** The library's own expression has JavaScript's \\s, with U+FEFF and without U+0085. */
function byteLevel(part: Part): Part {
  if (part.use_regex === false) return part;
  const prefix = { type: 'Replace', pattern: { Regex: '\\A[^ ]' }, content: ' $&' };
  const bytes = { ...part, add_prefix_space: false, use_regex: false };
  const pretokenizers = [...(part.add_prefix_space === true ? [prefix] : []), split(GPT2, 'Isolated'), bytes];
  return { type: 'Sequence', pretokenizers };
}

/** Where SentencePiece's space comes before a text that has none: older files say whether by `add_prefix_space`. */
export function prependScheme(part: unknown): unknown {
  return (part as { readonly prepend_scheme?: unknown } | null)?.prepend_scheme ?? 'always';
}

/** Each space begins a piece, unless `split` is false; the library never splits. */
function metaspace({ type, replacement, add_prefix_space: adds, split: splits, ...part }: Part, file: string): unknown {
  const scheme = prependScheme(part);
  if (typeof replacement !== 'string' || [...replacement].length !== 1)
    throw unreadable(file, `Metaspace's "replacement" to be one character, got ${JSON.stringify(replacement)}`);
  if (scheme !== 'always' && scheme !== 'first' && scheme !== 'never')
    throw unreadable(file, `Metaspace's "prepend_scheme" to be always, first or never, got ${JSON.stringify(scheme)}`);
  // Hugging Face's library refuses it, too.
  if (adds === false && scheme !== 'never')
    throw unreadable(file, 'Metaspace\'s "prepend_scheme" to be never, as "add_prefix_space" is false');
  const whole = { type, replacement, prepend_scheme: scheme };
  if (splits === false) return whole;
  const pieces = behaving(split(literal(replacement), 'MergedWithNext'), file);
  return { type: 'Sequence', pretokenizers: [whole, pieces] };
}

/** The library takes every piece of a sequence for the first of the text. */
function sequence(part: Part, file: string): Part {
  const steps = Array.isArray(part.pretokenizers) ? (part.pretokenizers as readonly unknown[]) : [];
  const late = steps.slice(1).find((step) => (step as Part | null)?.type === 'Metaspace');
  if (late !== undefined && prependScheme(late) === 'first')
    throw unreadable(file, 'Metaspace with the "prepend_scheme" first to be the first pre-tokenizer');
  return { ...part, pretokenizers: steps.map((step) => asHuggingFace(step, file)) };
}

function split(regex: string, behavior: unknown): Part {
  return { type: 'Split', pattern: { Regex: regex }, behavior, invert: false };
}

/** The library isolates what a Split finds, whatever its behaviour is, unless it is removed. */
function behaving(part: Part, file: string): Part {
  const { behavior, invert } = part;
  // What is between matches is isolated by isolating the matches.
  if (behavior === 'Isolated') return { ...part, invert: false };
  if (behavior === 'Removed' && invert === true) return part;
  const regex = regexOf(part.pattern);
  if (regex !== null) {
    // As a text, the library would keep what it removes.
    if (behavior === 'Removed') return { ...part, pattern: { Regex: regex } };
    if (behavior === 'Contiguous') return split(`(?:${regex})+`, 'Isolated');
    const between = `(?:(?!${regex})[\\s\\S])`;
    // A match that follows another stays alone; so does one that another follows.
    if (behavior === 'MergedWithPrevious' && invert !== true)
      return split(`${between}+(?:${regex})?|(?:${regex})`, 'Isolated');
    if (behavior === 'MergedWithNext' && invert !== true) return split(`(?:${regex})${between}*`, 'Isolated');
  }
  throw inputError(
    'BAD_TOKENIZER',
    `${file}: expected a pre-tokenizer that splits text in a known way, got ${JSON.stringify(part).slice(0, 120)}`,
    'Use the tokenizer.json of another model, or write that part with the behavior Isolated.',
  );
}

function unreadable(file: string, what: string) {
  return inputError(
    'BAD_TOKENIZER',
    `${file}: expected ${what}`,
    'Use the tokenizer.json of another model, or fix it.',
  );
}

function regexOf(pattern: unknown): string | null {
  const { Regex: regex, String: text } = (pattern ?? {}) as { Regex?: unknown; String?: unknown };
  if (typeof regex === 'string') return regex;
  return typeof text === 'string' && text !== '' ? literal(text) : null;
}

function literal(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
