/** What a model's tokenizer can't give back of a dataset's texts, and what it makes of that. Pure. */
import { beginning } from './beginning.ts';
import { counted } from './format.ts';

/** A word of a target that doesn't come back from its tokens. */
export interface LostWord {
  readonly word: string;
  /** What comes back; null: nothing, as a character has no token. */
  readonly becomes: string | null;
}

export interface Unwritable {
  /** Words of all targets. */
  readonly words: number;
  /** Those with a character that the tokenizer has no token for. */
  readonly unknown: number;
  /** Those that come back as other words: in lower case, without accents, run together. */
  readonly changed: number;
  /** Different ones, the first that were found. */
  readonly examples: readonly LostWord[];
  readonly targets: number;
  /** Targets whose words all come back, without the white space between them. */
  readonly spacing: number;
  readonly promptTokens: number;
  /** Tokens of prompts that stand for characters without a token. */
  readonly unknownPromptTokens: number;
}

const EXAMPLES = 3;
const LONGEST = 40;

/** What is lost, in a sentence without its full stop; null where all comes back. */
export function unwritableInWords(found: Unwritable): string | null {
  const { words, unknown, changed, targets, spacing, promptTokens, unknownPromptTokens } = found;
  const parts = [
    unknown > 0
      ? `${unknown} of ${counted(words, 'word')} ${unknown === 1 ? 'contains' : 'contain'} characters that this tokenizer has no token for${suchAs(found, (becomes) => becomes === null)}`
      : null,
    changed > 0
      ? `${changed} of ${counted(words, 'word')} ${changed === 1 ? 'comes' : 'come'} back from this tokenizer as ${changed === 1 ? 'another' : 'others'}${suchAs(found, (becomes) => becomes !== null)}`
      : null,
    spacing > 0
      ? `${spacing} of ${counted(targets, 'target')} ${spacing === 1 ? 'loses' : 'lose'} white space in this tokenizer`
      : null,
    unknownPromptTokens > 0
      ? `${percent(unknownPromptTokens / promptTokens)} of the prompts' tokens ${unknown > 0 ? 'stand for such characters' : 'stand for characters that this tokenizer has no token for'}`
      : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('; ');
}

/** What to do where no model is chosen yet, or the run may still reach its reward. */
export const UNWRITABLE_REMEDY =
  'Use a model whose tokenizer has them, or remove them from the texts: what has no token is neither read nor written.';

function suchAs({ examples }: Unwritable, wanted: (becomes: string | null) => boolean): string {
  const shown = examples.filter(({ becomes }) => wanted(becomes)).slice(0, EXAMPLES);
  if (shown.length === 0) return '';
  const words = shown.map(({ word, becomes }) =>
    becomes === null || becomes === word
      ? quoted(word)
      : `${quoted(word)} as ${becomes === '' ? 'nothing' : quoted(becomes)}`,
  );
  const last = words.pop();
  return `, such as ${words.length === 0 ? last : `${words.join(', ')} and ${last}`}`;
}

/** An accent that is a character of its own is shown as one: the word would look like another that has tokens. */
function quoted(word: string): string {
  const text = JSON.stringify(word.length > LONGEST ? `${beginning(word, LONGEST)}…` : word);
  if (word === word.normalize('NFC')) return text;
  return text.replace(/\p{M}/gu, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** At least 1%, so that a few aren't none. */
function percent(share: number): string {
  return `${Math.max(1, Math.round(100 * share))}%`;
}
