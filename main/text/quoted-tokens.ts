/** Control tokens that texts quote. Pure. */

/** What records quote. */
export interface Quoting {
  /** Records with control tokens in their texts. */
  readonly records: number;
  readonly of: number;
  /** Which ones, each once. */
  readonly tokens: readonly string[];
}

/**
 * Control tokens of the models that Braid trains, for where no model is chosen yet: `<|eot_id|>`, `</s>`,
 * `<start_of_turn>`, `[INST]`. A model's own are known by its tokenizer.
 */
const USUAL = /<\|\w[\w.-]{0,40}\|>|<\/?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>|\[\/?INST\]/g;

/** Sums up what each record quotes. */
export function quotingOf(records: readonly (readonly string[])[]): Quoting {
  const quoting = records.filter((tokens) => tokens.length > 0);
  return { records: quoting.length, of: records.length, tokens: [...new Set(quoting.flat())] };
}

/** The usual control tokens in the texts of each record. */
export function usualQuoting(records: readonly (readonly string[])[]): Quoting {
  return quotingOf(records.map((texts) => texts.flatMap((text) => text.match(USUAL) ?? [])));
}

/** "3 of 40 records contain <|eot_id|> </s>", or null where none does. */
export function quotingInWords({ records, of, tokens }: Quoting): string | null {
  if (records === 0) return null;
  return `${records} of ${of} records ${records === 1 ? 'contains' : 'contain'} ${tokens.slice(0, 3).join(' ')}`;
}

/** What becomes of them. */
export const QUOTED_REMEDY = 'They are read as plain characters; remove them if they got in by accident.';

/** Both, where no model is chosen yet; null where there are none. */
export function quotedWarning(quoting: Quoting): string | null {
  const quoted = quotingInWords(quoting);
  return quoted === null ? null : `${quoted}, control tokens of chat models. ${QUOTED_REMEDY}`;
}
