import { describe, expect, it } from 'vitest';
import type { FoundModel } from '../../../main/api/contract/index.ts';
import { foundWords } from '../../../renderer/models/found-words.ts';

const model: FoundModel = {
  source: 'ollama',
  name: 'small:1b',
  path: '/models/small',
  kind: 'gguf',
  bytes: 2 ** 20,
  architecture: 'llama',
  parameters: 1000,
  weights: 'Q4_K',
  bits: 4,
  problem: null,
  ref: null,
  memory: { lora: 2 ** 30, full: 2 ** 31, fits: 'full' },
};

describe('foundWords', () => {
  it('says what it is, what few bits cost, and what fits', () => {
    expect(foundWords(model)).toBe(
      'llama · Q4_K: weights of 4 bits, trained from there · LoRA takes 1.0 GiB, all weights 2.0 GiB',
    );
    const scarce = (fits: 'lora' | 'none') =>
      foundWords({ ...model, weights: 'BF16', bits: null, memory: { lora: 2 ** 30, full: 2 ** 31, fits } });
    expect(scarce('lora')).toBe('llama · BF16 · LoRA takes 1.0 GiB, all weights 2.0 GiB: only LoRA fits now');
    expect(scarce('none')).toContain('too large for what is free now');
  });

  it("says why it can't be trained", () => {
    expect(foundWords({ ...model, problem: 'it is a mixture of experts' })).toBe(
      "can't be trained: it is a mixture of experts",
    );
  });
});
