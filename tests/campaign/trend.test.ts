import { describe, expect, it } from 'vitest';
import { contract } from '../../main/api/contract/index.ts';
import { proceduresOf } from './procedures.ts';
import { trendOf } from './trend.ts';

describe('trendOf', () => {
  it('is the least-squares line with the interval of its slope', () => {
    // By hand: x 0 1 2 3, y 1 3 2 5: slope 1.1, residuals sum to 2.7, standard error sqrt(2.7 / 2 / 5) = 0.5196.
    const trend = trendOf([1, 3, 2, 5].map((y, x) => ({ x, y })));
    expect(trend).toMatchObject({ samples: 4, first: 1, last: 5 });
    expect(trend.slope).toBeCloseTo(1.1, 10);
    expect(trend.low).toBeCloseTo(1.1 - 1.96 * 0.519615, 5);
    expect(trend.high).toBeCloseTo(1.1 + 1.96 * 0.519615, 5);
  });

  it('needs three points', () => {
    expect(() => trendOf([{ x: 0, y: 0 }])).toThrow('at least three points, got 1');
  });
});

describe('proceduresOf', () => {
  it('finds every procedure of the contract', () => {
    const names = proceduresOf(contract).map(({ name }) => name);
    expect(names).toContain('runs.wholeCheckpoint');
    expect(names).toContain('app.changes');
    expect(names.length).toBeGreaterThan(100);
    expect(new Set(names).size).toBe(names.length);
  });
});
