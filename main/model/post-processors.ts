/** What @huggingface/tokenizers' post-processors do in another way than Hugging Face's Rust library. */
import { isJsonObject } from '../io/json.ts';

interface Piece {
  readonly SpecialToken?: { readonly id: string; readonly type_id: number };
}

interface Processor {
  readonly config?: {
    readonly single?: readonly Piece[];
    readonly pair?: readonly Piece[];
    readonly special_tokens?: Readonly<Record<string, { readonly ids?: readonly number[] }>>;
  };
  readonly processors?: readonly Processor[];
}

/**
 * The library takes the token that a template names. The ids that the file gives for the name count: they may be several,
 * or those of other tokens.
 */
export function templatesByIds(processor: unknown, tokenOf: (id: number) => string | undefined): void {
  const { config, processors = [] } = (processor ?? {}) as Processor;
  for (const one of processors) templatesByIds(one, tokenOf);
  if (config === undefined || !isJsonObject(config.special_tokens)) return;
  const { special_tokens: named } = config;
  const byIds = (pieces: readonly Piece[] = []): readonly Piece[] =>
    pieces.flatMap((piece) => {
      const special = piece.SpecialToken;
      const ids = special === undefined ? undefined : named?.[special.id]?.ids;
      if (special === undefined || ids === undefined) return [piece];
      return ids.map((id) => ({ SpecialToken: { ...special, id: tokenOf(id) ?? special.id } }));
    });
  // The file's own object stays as it is: another tokenizer may be made of it.
  Object.assign(processor as object, { config: { ...config, single: byIds(config.single), pair: byIds(config.pair) } });
}
