import { describe, expect, it } from 'vitest';
import { modelName } from '../../main/model/gguf/model-name.ts';

const FOUR = ['<unk>', '<s>', '</s>', '<|endoftext|>'];
const vocabulary = [...FOUR, 'a', '<|end|>', '<|user|>'];
const added = (stripping: readonly string[]) =>
  [...FOUR, '<|end|>', '<|user|>'].map((content) => ({ content, rstrip: stripping.includes(content) }));
/** As published by Microsoft. */
const phi3 = added(['</s>', '<|end|>', '<|user|>']);

describe('modelName', () => {
  it("has llama.cpp drop the space after special tokens where the tokenizer's own do, whatever the folder's name", () => {
    expect(modelName('my-model', vocabulary, phi3)).toBe('my-model (Phi-3)');
    expect(['Phi-3.5-mini', 'phi3-run'].map((name) => modelName(name, vocabulary, phi3))).toEqual([
      ...['Phi-3.5-mini', 'phi3-run'],
    ]);
  });

  it("never contains llama.cpp's names of Phi-3 otherwise, as the file might not load", () => {
    const others = [
      modelName('tuned-Phi-3-phi3.5', ['a'], []),
      modelName('PHI3', vocabulary, added([])),
      modelName('phi-3', vocabulary, added(['<|end|>'])),
      modelName('phi-3', vocabulary.slice(1), phi3),
      modelName('phi-3', vocabulary, added([...FOUR, '<|end|>', '<|user|>'])),
    ];
    expect(others).toEqual(['tuned-Phi 3-phi 3.5', 'PHI 3', 'phi 3', 'phi 3', 'phi 3']);
    expect(modelName('phi-4-mini', vocabulary, added([]))).toBe('phi-4-mini');
  });
});
