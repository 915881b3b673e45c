/** A word-level tokenizer for models with random weights: one token a word. */
const SPECIAL = ['<pad>', '<bos>', '<eos>', '<unk>', '<a>', '<b>', '<out>'];

/** Its files by name, for a vocabulary of `size` tokens. */
export function wordTokenizer(size: number): Record<string, string> {
  const vocabulary = [...SPECIAL, ...Array.from({ length: size - SPECIAL.length }, (_, i) => word(i))];
  const added = SPECIAL.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const model = {
    type: 'WordLevel',
    unk_token: '<unk>',
    vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
  };
  const parts = {
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    post_processor: null,
    decoder: null,
  };
  const settings = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    pad_token: '<pad>',
    bos_token: '<bos>',
    eos_token: '<eos>',
    unk_token: '<unk>',
  };
  return {
    'tokenizer.json': JSON.stringify({
      ...parts,
      added_tokens: added,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      model,
    }),
    'tokenizer_config.json': JSON.stringify(settings),
  };
}

/** The i-th word, its number in letters: `braid bench` takes only what is spelt with letters for a word. */
function word(i: number): string {
  const letters = [...i.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26)));
  return `w${letters.join('')}`;
}
