import { describe, expect, it } from 'vitest';
import { estimateTable } from '../../scripts/gpu-report/estimates.ts';

describe('estimateTable', () => {
  it('has tokens per second by shape and GPU: decoded with three precisions of weights; trained', () => {
    const rows = estimateTable().split('\n');
    expect(rows).toHaveLength(2 + 4);
    // Decoded on an RTX 4090: 16 / ((6.43e9 + 0.55e9) / (0.6 · 1,008e9) + 285 · 4e-6 + 0.3e-3); trained: 0.5 · 82.6e12 / 6 a weight.
    expect(rows.at(-1)).toBe(
      '| 3.2 B | 6.43 / 3.78 / 2.37 | 0.55 | 285 | 1,200 / 1,900 / 2,500; 2,100 | 700 / 1,100 / 1,500; 440 | 880 / 1,400 / 1,900; 970 | 4,100 / 5,400 / 6,500; 1,700 |',
    );
  });
});
