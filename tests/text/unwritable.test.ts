import { describe, expect, it } from 'vitest';
import { type Unwritable, unwritableInWords } from '../../main/text/unwritable.ts';

const NONE: Unwritable = {
  words: 240,
  unknown: 0,
  changed: 0,
  examples: [],
  targets: 24,
  spacing: 0,
  promptTokens: 1000,
  unknownPromptTokens: 0,
};

describe('unwritableInWords', () => {
  it('is silent where all comes back', () => {
    expect(unwritableInWords(NONE)).toBeNull();
  });

  it('counts words without a token, with examples, and the tokens of prompts that stand for them', () => {
    const examples = ['мир', 'день', 'сад'].map((word) => ({ word, becomes: null }));
    expect(unwritableInWords({ ...NONE, unknown: 212, examples, unknownPromptTokens: 437 })).toBe(
      '212 of 240 words contain characters that this tokenizer has no token for, such as "мир", "день" and "сад"; 44% of the prompts\' tokens stand for such characters',
    );
    expect(unwritableInWords({ ...NONE, unknownPromptTokens: 1 })).toBe(
      "1% of the prompts' tokens stand for characters that this tokenizer has no token for",
    );
  });

  it('says what words become, and that white space is lost', () => {
    const examples = [
      { word: 'The', becomes: 'the' },
      { word: `x${'y'.repeat(60)}`, becomes: 'x' },
    ];
    expect(unwritableInWords({ ...NONE, changed: 2, examples, spacing: 1 })).toBe(
      `2 of 240 words come back from this tokenizer as others, such as "The" as "the" and "x${'y'.repeat(39)}…" as "x"; 1 of 24 targets loses white space in this tokenizer`,
    );
  });
});
