import { describe, expect, it } from 'vitest';
import { align, type ChartSeries, columnsOf, countAt, smooth, valueAt } from '../../../renderer/charts/series.ts';

const plain = { smoothing: 0, log: false, stacked: false };

function series(id: string, changes: Partial<ChartSeries>): ChartSeries {
  return { id, label: id, colour: 'ink', x: [1, 2, 3], y: [1, 2, 3], ...changes };
}

describe('columnsOf', () => {
  const banded = series('a', { low: [0, 1, 2], high: [2, 3, 4] });

  it('draws bands behind all lines', () => {
    expect(columnsOf([series('b', {}), banded], plain)).toEqual([
      { series: 1, role: 'low' },
      { series: 1, role: 'high' },
      { series: 0, role: 'line' },
      { series: 1, role: 'line' },
    ]);
  });

  it('keeps the raw line under a smoothed one, but leaves points alone', () => {
    const columns = columnsOf([series('a', {}), series('b', { look: 'points' })], { ...plain, smoothing: 0.5 });
    expect(columns.map(({ role }) => role)).toEqual(['raw', 'line', 'line']);
  });

  it('has no bands in a stack', () => {
    expect(columnsOf([banded], { ...plain, stacked: true })).toEqual([{ series: 0, role: 'line' }]);
  });
});

describe('align', () => {
  it('joins series of different steps: undefined where there is no point, null at a gap', () => {
    const all = [series('a', { y: [1, Number.NaN, 3] }), series('b', { x: [2, 5], y: [7, null] })];
    const aligned = align(all, columnsOf(all, plain), plain);
    expect(aligned.x).toEqual([1, 2, 3, 5]);
    expect(aligned.values).toEqual([
      [1, null, 3, undefined],
      [undefined, 7, undefined, null],
    ]);
    expect(aligned.columns).toEqual(aligned.values);
  });

  it('stacks each series on those before it, a missing value adding nothing', () => {
    const options = { ...plain, stacked: true };
    const all = [series('a', {}), series('b', { x: [1, 3], y: [10, 10] })];
    const aligned = align(all, columnsOf(all, options), options);
    expect(aligned.columns).toEqual([
      [1, 2, 3],
      [11, 2, 13],
    ]);
    expect(aligned.values[1]).toEqual([10, undefined, 10]);
  });

  it('leaves a gap on a logarithmic axis at 0 and below', () => {
    const options = { ...plain, log: true };
    const all = [series('a', { y: [0, -1, 2] })];
    expect(align(all, columnsOf(all, options), options).columns).toEqual([[null, null, 2]]);
  });

  it('smooths the line and shows the raw one', () => {
    const options = { ...plain, smoothing: 0.5 };
    const all = [series('a', { y: [1, 3, 3] })];
    const [raw, line] = align(all, columnsOf(all, options), options).columns;
    expect(raw).toEqual([1, 3, 3]);
    expect(line?.[0]).toBe(1);
    expect(line?.[1]).toBeCloseTo(1 * (1 / 3) + 3 * (2 / 3));
  });

  it('accepts no series', () => {
    expect(align([], [], plain)).toEqual({ x: [], values: [], columns: [] });
  });
});

describe('smooth', () => {
  it('is not biased towards 0 at the start, and skips gaps', () => {
    expect(smooth([4, null, undefined, 4], 0.9)).toEqual([4, null, undefined, 4]);
  });
});

describe('valueAt', () => {
  it('returns the newest value up to the index', () => {
    expect(valueAt([1, undefined, 3], 1)).toBe(1);
    expect(valueAt([1, undefined, 3], 9)).toBe(3);
    expect(valueAt([undefined, 2], 0)).toBe(null);
    expect(valueAt([1, null], 1)).toBe(null);
  });
});

describe('countAt', () => {
  it('says of how many values the newest points are the mean', () => {
    const series = [{ x: [4, 8, 9], counts: [4, 4, 1] }, { x: [0, 8] }];
    expect([0, 4, 7, 8, 9, 12].map((at) => countAt(series, at))).toEqual([1, 4, 4, 4, 1, 1]);
  });
});
