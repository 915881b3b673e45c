import { describe, expect, it } from 'vitest';
import { exportWords } from '../../../main/services/merge/export-model.ts';
import type { MergeResult } from '../../../main/services/merge/merge.ts';

const merged: MergeResult = {
  ...{ folder: '/models/mine', dtype: 'bfloat16', files: [], gguf: null },
  agreement: { prompts: 16, equal: 15 },
  compared_on: { task: 'interleave', dataset: '/data/10words.test.jsonl', records: 64, note: null },
};

describe('exportWords', () => {
  it('says how many answers are the same, and what llama.cpp gives from the GGUF file', () => {
    expect(exportWords('mine', 'run 1 · step 20', merged)).toBe(
      'mine (bfloat16), loaded again, answers 15 of 16 prompts as run 1 · step 20 does. Compared on 16 of 64 records of /data/10words.test.jsonl.',
    );
    const compared_on = { task: 'interleave', dataset: null, records: 16, note: 'the model is no checkpoint' };
    expect(exportWords('mine', 'a', { ...merged, compared_on })).toMatch(
      / Compared on 16 pairs of the bundled texts \(the model is no checkpoint\)\.$/,
    );
    const gguf = { file: '/models/mine/mine.gguf', prompts: 16, equal: 14, same_tokens: 13 };
    expect(exportWords('mine', 'a', { ...merged, gguf })).toMatch(
      / llama\.cpp answers 14 of 16 from the GGUF file, and cuts 13 of 16 into the same tokens\. Compared/,
    );
    const unproved = { file: gguf.file, unproved: 'node-llama-cpp is not installed' };
    expect(exportWords('mine', 'a', { ...merged, gguf: unproved })).toMatch(
      /wasn't checked: node-llama-cpp is not installed\. Compared/,
    );
  });
});
