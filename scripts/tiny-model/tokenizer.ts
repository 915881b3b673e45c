/**
 * The tiny model's tokenizer: WordPiece over `vocabulary.txt` (whole common words and word beginnings, then
 * '##' continuations, both from the commonest to the rarest), so that every word of ordinary English is covered,
 * letter by letter in the worst case. Each fixed piece of the "process" prompt is one token, which keeps prompts short.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESS_A, PROCESS_B, PROCESS_INSTRUCTION, PROCESS_INTRODUCTION } from '../../main/tasks/interleave/prompt.ts';

/** Special tokens by id. The last five name a way of combining two texts; a prompt that ends in one asks for it. */
const SPECIAL_TOKENS = [
  '<pad>',
  '<unk>',
  '<bos>',
  '<eos>',
  `${PROCESS_INTRODUCTION}\n${PROCESS_A.trim()}`,
  PROCESS_B.trim(),
  PROCESS_INSTRUCTION,
  '<|a-then-b|>',
  '<|interleave|>',
  '<|a-only|>',
  '<|b-only|>',
  '<|b-then-a|>',
] as const;

export const EOS = 3;
export const OPEN_A = 4;
export const OPEN_B = 5;
/** Ends a prompt without saying how to combine. */
export const OPEN_OUTPUT = 6;
export const TAGS = { aThenB: 7, interleave: 8, aOnly: 9, bOnly: 10, bThenA: 11 } as const;

/** Ids below this are special or reserved; words begin at it. */
export const FIRST_WORD = 32;

const words = readFileSync(join(import.meta.dirname, 'vocabulary.txt'), 'utf8')
  .trim()
  .split('\n');
/** Ids from this on continue a word. */
export const FIRST_CONTINUATION = FIRST_WORD + words.findIndex((piece) => /^##./.test(piece));
export const VOCABULARY_SIZE = FIRST_WORD + words.length;

/** The ids of these pieces; a piece that the vocabulary lacks is left out. */
export function pieceIds(pieces: readonly string[]): readonly number[] {
  return pieces.flatMap((piece) => {
    const at = words.indexOf(piece);
    return at < 0 ? [] : [FIRST_WORD + at];
  });
}

function vocabulary(): readonly string[] {
  const reserved = Array.from({ length: FIRST_WORD - SPECIAL_TOKENS.length }, (_, i) => `<|reserved-${i}|>`);
  return [...SPECIAL_TOKENS, ...reserved, ...words];
}

/** tokenizer.json and tokenizer_config.json as Hugging Face's fast tokenizers read them. */
export function tokenizerFiles(): Readonly<Record<'tokenizer.json' | 'tokenizer_config.json', string>> {
  const all = vocabulary();
  const added = all.slice(0, FIRST_WORD).map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
    model: {
      type: 'WordPiece',
      unk_token: '<unk>',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 200,
      vocab: Object.fromEntries(all.map((piece, id) => [piece, id])),
    },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<bos>',
    eos_token: '<eos>',
    pad_token: '<pad>',
    unk_token: '<unk>',
    clean_up_tokenization_spaces: false,
    model_max_length: 4096,
  };
  return {
    'tokenizer.json': `${JSON.stringify(tokenizer)}\n`,
    'tokenizer_config.json': `${JSON.stringify(config, null, 2)}\n`,
  };
}
