import { describe, expect, it } from 'vitest';
import { exportWords } from '../../../main/services/merge/export-model.ts';
import type { MergeResult } from '../../../main/services/merge/merge.ts';

const merged: MergeResult = {
  ...{ folder: '/models/mine', dtype: 'bfloat16', files: [], gguf: null },
  agreement: { prompts: 16, equal: 15 },
};

describe('exportWords', () => {
  it('says how many answers are the same, and what llama.cpp gives from the GGUF file', () => {
    expect(exportWords('mine', 'run 1 · step 20', merged)).toBe(
      'mine (bfloat16), loaded again, answers 15 of 16 prompts as run 1 · step 20 does.',
    );
    const gguf = { file: '/models/mine/mine.gguf', prompts: 16, equal: 14 };
    expect(exportWords('mine', 'a', { ...merged, gguf })).toMatch(/ llama\.cpp answers 14 of 16 from the GGUF file\.$/);
    const unproved = { file: gguf.file, unproved: 'node-llama-cpp is not installed' };
    expect(exportWords('mine', 'a', { ...merged, gguf: unproved })).toMatch(
      /wasn't checked: node-llama-cpp is not installed\.$/,
    );
  });
});
