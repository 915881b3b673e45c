import { describe, expect, it } from 'vitest';
import { binsOf } from '../../../renderer/charts/bins.ts';
import { seriesCsv } from '../../../renderer/charts/series.ts';
import { sparkPath } from '../../../renderer/charts/spark-path.ts';

describe('binsOf', () => {
  it('counts values into bins of equal width, the upper end in the last', () => {
    const bins = binsOf([0, 0.24, 0.25, 1, Number.NaN], 4, 0, 1);
    expect(bins.map(({ count }) => count)).toEqual([2, 1, 0, 1]);
    expect(bins[1]).toMatchObject({ from: 0.25, to: 0.5 });
  });

  it('puts values outside into the nearest bin', () => {
    expect(binsOf([-1, 2], 2, 0, 1).map(({ count }) => count)).toEqual([1, 1]);
  });

  it('accepts values that are all equal', () => {
    expect(binsOf([3, 3], 2, 3, 3).map(({ count }) => count)).toEqual([2, 0]);
  });
});

describe('sparkPath', () => {
  const box = { width: 14, height: 14 };

  it('runs from the left to the right, high values up', () => {
    expect(sparkPath([0, 1], box)).toEqual({ path: 'M2 12L12 2', end: [12, 2] });
  });

  it('breaks where a value is missing', () => {
    expect(sparkPath([0, null, 1], box).path).toBe('M2 12M12 2');
  });

  it('is centred for constant values, and empty without values', () => {
    expect(sparkPath([5, 5], box).path).toBe('M2 7L12 7');
    expect(sparkPath([Number.NaN], box)).toEqual({ path: '', end: null });
  });

  it('uses a given scale', () => {
    expect(sparkPath([0.5, 0.5], { ...box, min: 0, max: 1 }).path).toBe('M2 7L12 7');
  });
});

describe('seriesCsv', () => {
  it('writes full precision, with empty cells and quoted names', () => {
    const aligned = {
      x: [1, 2],
      values: [
        [0.1 + 0.2, undefined],
        [null, 4],
      ],
      columns: [],
    };
    expect(seriesCsv('step', [{ label: 'run "a", mean' }, { label: 'b' }], aligned)).toBe(
      'step,"run ""a"", mean",b\r\n1,0.30000000000000004,\r\n2,,4\r\n',
    );
  });

  it('says of which series a row has the mean of several steps', () => {
    const aligned = { x: [250], values: [[0.5], [0.75]], columns: [] };
    expect(seriesCsv('step', [{ label: 'train', low: [0.25] }, { label: 'held-out' }], aligned)).toBe(
      'last step,"train, mean",held-out\r\n250,0.5,0.75\r\n',
    );
  });
});
