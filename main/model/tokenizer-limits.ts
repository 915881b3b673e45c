/** Limits for what a tokenizer.json from anywhere makes the library do: its regular expressions may never end. */
import { BraidError, inputError } from '../errors.ts';
import { withinTime } from '../time-limit.ts';
import { KNOWN_EXPRESSIONS } from './gguf/pre-tokenizers.ts';

/** Published ones have 1,500 characters at most. */
const LONGEST_EXPRESSION = 10_000;
/** Published ones write a character as three at most. */
const MOST_GROWTH = 1000;
/** For a text; a long one takes more. */
const LEAST_MS = 1000;
const CHARACTERS_A_MS = 100;

/** Calls the library for a text of so many characters. */
export type Limited = <T>(characters: number, call: () => T) => T;

/** The limit for a definition; none where it has only expressions that are known to end. `file`: for errors. */
export function limitsOf(definition: object, file: string, least = LEAST_MS): Limited {
  const { normalizer, pre_tokenizer, decoder } = definition as Readonly<Record<string, unknown>>;
  if (growthOf(normalizer) * growthOf(decoder) > MOST_GROWTH)
    throw inputError(
      'BAD_TOKENIZER',
      `${file}: its replacements may make a text more than ${MOST_GROWTH} times as long`,
      'Use the tokenizer.json of another model.',
    );
  const expressions = [normalizer, pre_tokenizer, decoder].flatMap(expressionsIn);
  if (expressions.some(({ length }) => length > LONGEST_EXPRESSION))
    throw inputError(
      'BAD_TOKENIZER',
      `${file}: expected regular expressions of at most ${LONGEST_EXPRESSION} characters`,
      'Use the tokenizer.json of another model.',
    );
  if (expressions.every((expression) => KNOWN_EXPRESSIONS.has(expression))) return (_, call) => inWords(file, call);
  return (characters, call) => {
    const most = least + characters / CHARACTERS_A_MS;
    return withinTime(
      most,
      () => inWords(file, call),
      () =>
        inputError(
          'BAD_TOKENIZER',
          `${file}: its regular expressions take more than ${Math.round(most / 1000)} s for a text of ${characters} characters`,
          'Use the tokenizer.json of the model as it was published, or of another model.',
        ),
    );
  };
}

/** What the library throws where a part of the file isn't what it expects, as an error that names the file. */
function inWords<T>(file: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    if (cause instanceof BraidError) throw cause;
    const error = inputError(
      'BAD_TOKENIZER',
      `${file}: not a readable tokenizer (${(cause as Error).message})`,
      'Use the tokenizer.json of a Hugging Face "fast" tokenizer.',
    );
    throw Object.assign(error, { cause });
  }
}

/** The values of "Regex" in a part and its parts. */
function expressionsIn(part: unknown): readonly string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) =>
    key === 'Regex' && typeof value === 'string' ? [value] : expressionsIn(value),
  );
}

/** How many times as long the replacements of a part may make a text, one after the other. */
function growthOf(part: unknown): number {
  if (Array.isArray(part)) return part.reduce<number>((product, one) => product * growthOf(one), 1);
  if (typeof part !== 'object' || part === null) return 1;
  const { type, pattern, content, normalizers, decoders } = part as Readonly<Record<string, unknown>>;
  const inside = growthOf(normalizers) * growthOf(decoders);
  if (type !== 'Replace' || typeof content !== 'string') return inside;
  const { String: text } = (pattern ?? {}) as { readonly String?: unknown };
  // An expression may match single characters, and the places between them.
  const shortest = typeof text === 'string' ? Math.max(1, text.length) : 0.5;
  return inside * Math.max(1, content.length / shortest);
}
