import { describe, expect, it } from 'vitest';
import { hubName } from '../../../renderer/models/hub-name.ts';

describe('hubName', () => {
  it('recognises the name of a model of the Hub, and the address of its page', () => {
    for (const entered of [
      'HuggingFaceTB/SmolLM2-135M-Instruct',
      'hf:HuggingFaceTB/SmolLM2-135M-Instruct',
      'https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct/tree/main',
    ])
      expect(hubName(entered), entered).toBe('HuggingFaceTB/SmolLM2-135M-Instruct');
  });

  it('leaves paths alone', () => {
    for (const entered of ['', '/models/tiny', '~/models', './a/b', '../a', 'models/tiny', 'a/b/c', 'a/b.gguf', 'C:/x'])
      expect(hubName(entered), entered).toBeNull();
  });
});
