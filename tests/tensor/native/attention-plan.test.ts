import { describe, expect, it } from 'vitest';
import { planAttention } from '../../../main/tensor/native/kernels/attention-plan.ts';

/** A prompt of 3 with completions of 2 and 1, a prompt of 2 with one of 2, then a sequence of 1 of its own. */
const SEGMENTS = Int32Array.from([
  ...[0, 3, 0, 0],
  ...[3, 2, 0, 3],
  ...[5, 1, 0, 3],
  ...[6, 2, 0, 0],
  ...[8, 2, 6, 2],
  ...[10, 1, 0, 0],
]);

describe('planAttention', () => {
  it('makes a block of what stands alone and one of the completions, padded', () => {
    const [alone, completions, ...others] = planAttention(SEGMENTS, 1, 1e6);
    expect(others).toEqual([]);
    expect(alone).toMatchObject({ prompts: 3, group: 1, tokens: 3, prefix: 0 });
    expect([...(alone?.rows ?? [])]).toEqual([0, 1, 2, 6, 7, -1, 10, -1, -1]);
    expect(completions).toMatchObject({ prompts: 2, group: 2, tokens: 2, prefix: 3 });
    expect([...(completions?.rows ?? [])]).toEqual([3, 4, 5, -1, 8, 9, -1, -1]);
    expect([...(completions?.prefixRows ?? [])]).toEqual([0, 1, 2, 6, 7, -1]);
  });

  it('shows a token its whole prefix and its own row up to itself, no padding', () => {
    const [, completions] = planAttention(SEGMENTS, 1, 1e6);
    const seen = Array.from(completions?.mask ?? [], (value) => (value === 0 ? 1 : 0));
    expect(seen).toEqual([...[1, 1, 1, 1, 0], ...[1, 1, 1, 1, 1], ...[1, 1, 0, 1, 0], ...[1, 1, 0, 1, 1]]);
  });

  it('cuts between prompts, then within a group, and covers every token once', () => {
    for (const most of [60, 20, 1]) {
      const blocks = planAttention(SEGMENTS, 2, most);
      const rows = blocks.flatMap((block) => [...block.rows].filter((row) => row >= 0));
      expect(rows.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      for (const { prompts, group, tokens, prefix } of blocks) {
        const floats = 2 * prompts * group * tokens * (prefix + tokens);
        expect(floats <= most || prompts * group === 1).toBe(true);
      }
    }
    expect(planAttention(SEGMENTS, 2, 1)).toHaveLength(6);
  });
});
