/** How byte-level tokenizers cut text before the merges, and llama.cpp's names for it ("tokenizer.ggml.pre"). */
import { z } from 'zod';

const partSchema = z.looseObject({
  type: z.string(),
  prepend_scheme: z.string().optional(),
  add_prefix_space: z.boolean().optional(),
  use_regex: z.boolean().optional(),
  individual_digits: z.boolean().optional(),
  behavior: z.string().optional(),
  invert: z.boolean().optional(),
});

export type Part = z.infer<typeof partSchema>;

/** The steps of a part of tokenizer.json, which may be a sequence of them. */
export function partsOf(part: unknown): Part[] {
  const { data } = partSchema.safeParse(part);
  if (data === undefined) return [];
  const inner = data.normalizers ?? data.pretokenizers;
  return Array.isArray(inner) ? inner.flatMap(partsOf) : [data];
}

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const REST = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const REST_WITH_MARKS = ' ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
/** What may stand before a word's letters. */
const BEFORE = '[^\\r\\n\\p{L}\\p{N}]?';
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const REST_WITH_SLASH = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const split = (expression: string): readonly string[] => [`Split ${expression}`, 'ByteLevel'];

interface Family {
  readonly name: string;
  /** Other names for the same cuts. */
  readonly aliases?: readonly string[];
  readonly steps: readonly string[];
  /** Whether llama.cpp looks up whole words before it merges; null: it does, but it makes no difference to the published ones. */
  readonly ignoresMerges: boolean | null;
  /** Whether llama.cpp begins a text with its token for that where the file doesn't say. */
  readonly begins?: true;
}

const THREE_DIGITS = split(`${CONTRACTIONS}|${BEFORE}\\p{L}+|\\p{N}{1,3}|${REST}`);

/**
 * What llama.cpp (src/llama-vocab.cpp) cuts in the same places. A new family needs an entry: a similar one would give
 * other tokens, without an error.
 */
const FAMILIES: readonly Family[] = [
  // Llama 3, SmolLM3, LFM2.
  {
    name: 'llama-bpe',
    aliases: ['llama3', 'llama-v3', 'lfm2', 'falcon3', 'pixtral', 'midm-2.0'],
    steps: THREE_DIGITS,
    ignoresMerges: true,
    begins: true,
  },
  // OLMo-2, Phi-4, Granite 4.
  { name: 'dbrx', steps: THREE_DIGITS, ignoresMerges: false },
  // Qwen2, Qwen2.5, Qwen3.
  {
    name: 'qwen2',
    aliases: ['deepseek-r1-qwen', 'kormo'],
    steps: split(`${CONTRACTIONS}|${BEFORE}\\p{L}+|\\p{N}|${REST}`),
    ignoresMerges: false,
  },
  // Qwen3.5: accents belong to the letters.
  {
    name: 'qwen35',
    steps: split(`${CONTRACTIONS}|${BEFORE}[\\p{L}\\p{M}]+|\\p{N}|${REST_WITH_MARKS}`),
    ignoresMerges: false,
  },
  // SmolLM, SmolLM2, Granite 3.
  {
    name: 'smollm',
    aliases: ['refact', 'starcoder', 'command-r'],
    steps: ['Digits single', 'ByteLevel words'],
    ignoresMerges: false,
  },
  { name: 'gpt-2', aliases: ['mellum', 'a.x-4.0'], steps: ['ByteLevel words'], ignoresMerges: false },
  {
    // GPT-4o, Phi-4-mini.
    name: 'gpt-4o',
    steps: split(
      `${BEFORE}${UPPER}*${LOWER}+${CONTRACTIONS}?|${BEFORE}${UPPER}+${LOWER}*${CONTRACTIONS}?|\\p{N}{1,3}|${REST_WITH_SLASH}`,
    ),
    ignoresMerges: false,
  },
  {
    // Mistral Nemo and later.
    name: 'tekken',
    steps: split(`${BEFORE}${UPPER}*${LOWER}+|${BEFORE}${UPPER}+${LOWER}*|\\p{N}|${REST_WITH_SLASH}`),
    ignoresMerges: null,
    begins: true,
  },
];

/** The expressions of these families. */
export const KNOWN_EXPRESSIONS: ReadonlySet<string> = new Set(
  FAMILIES.flatMap(({ steps }) => steps.filter((step) => step.startsWith('Split ')).map((step) => step.slice(6))),
);

/** llama.cpp's name for a tokenizer.json's pre-tokenizer; null: it has none. */
export function preTokenizer(pre: unknown, ignoresMerges: boolean): string | null {
  const steps = JSON.stringify(partsOf(pre).map(stepOf));
  const found = FAMILIES.find(
    (family) => JSON.stringify(family.steps) === steps && (family.ignoresMerges ?? ignoresMerges) === ignoresMerges,
  );
  return found?.name ?? null;
}

interface Cuts {
  readonly family: string;
  /** As steps of a tokenizer.json. */
  readonly steps: readonly object[];
  /** Whether whole words are looked up first. */
  readonly ignoresMerges: boolean;
  /** Whether a text begins with the token for that where a file doesn't say. */
  readonly begins: boolean;
}

/** How llama.cpp cuts texts under a name; null: the name isn't known. */
export function knownCuts(name: string): Cuts | null {
  const family = FAMILIES.find((one) => one.name === name || one.aliases?.includes(name));
  if (family === undefined) return null;
  return {
    family: family.name,
    steps: family.steps.map(definitionOf),
    ignoresMerges: family.ignoresMerges ?? true,
    begins: family.begins ?? false,
  };
}

/** The same for a name that was written here, or was read and found to be known. */
export function cutsOf(name: string): Cuts {
  const cuts = knownCuts(name);
  if (cuts === null) throw new Error(`Expected a name of llama.cpp for how texts are cut, got ${name}`);
  return cuts;
}

function definitionOf(step: string): object {
  if (step.startsWith('Split '))
    return { type: 'Split', pattern: { Regex: step.slice(6) }, behavior: 'Isolated', invert: false };
  if (step === 'Digits single') return { type: 'Digits', individual_digits: true };
  return { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: step === 'ByteLevel words' };
}

/** A step in one form, as files write the same one differently. */
function stepOf({ type, ...part }: Part): string {
  switch (type) {
    case 'Split': {
      const { pattern, behavior, invert = false } = part;
      const { Regex: expression } = (pattern ?? {}) as { readonly Regex?: unknown };
      // These expressions match every character, so "remove what isn't matched" cuts in the same places.
      const isolates = invert ? behavior === 'Removed' : behavior === 'Isolated';
      return isolates && typeof expression === 'string' ? `Split ${expression}` : `Split of another kind`;
    }
    case 'Digits':
      return part.individual_digits === true ? 'Digits single' : 'Digits';
    case 'ByteLevel': {
      const { add_prefix_space: adds, use_regex: words } = part;
      return ['ByteLevel', ...(words === false ? [] : ['words']), ...(adds === true ? ['prefix'] : [])].join(' ');
    }
    default:
      return type;
  }
}
