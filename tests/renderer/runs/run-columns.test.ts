import { describe, expect, it } from 'vitest';
import { columns, defaultColumns, nextSorting, sortRows } from '../../../renderer/runs/run-columns.ts';
import type { RunRowView } from '../../../renderer/runs/run-rows.ts';

const row = (id: number, name: string, dataset: string, reward: number | null) =>
  ({ id, name, dataset, reward }) as RunRowView;
const rows = [
  row(4, 'run 10', '50words', 0.5),
  row(3, 'a renamed one', '100words', null),
  row(2, 'run 9', '10words', 0.9),
  row(1, 'warm-up', '10words', 0.5),
];

function sorted(column: string, direction: 'ascending' | 'descending'): number[] {
  return sortRows(rows, { column, direction }).map(({ id }) => id);
}

describe('defaultColumns', () => {
  it('leaves out the dataset first, then gain and time, then the curve, and stays in the order of the list', () => {
    const widest = defaultColumns(1321);
    expect(widest).toEqual(columns.map(({ id }) => id).filter((id) => widest.includes(id)));
    expect(widest).toContain('dataset');
    const gone = (width: number) => widest.filter((id) => !defaultColumns(width).includes(id));
    expect(gone(1320)).toEqual(['dataset']);
    expect(gone(1150)).toEqual(['gain', 'dataset', 'started']);
    expect(gone(999)).toEqual(['shape', 'gain', 'dataset', 'started']);
  });
});

describe('nextSorting', () => {
  it('cycles through descending, ascending and none', () => {
    const first = nextSorting(null, 'step');
    expect(first).toEqual({ column: 'step', direction: 'descending' });
    const second = nextSorting(first, 'step');
    expect(second).toEqual({ column: 'step', direction: 'ascending' });
    expect(nextSorting(second, 'step')).toBeNull();
    expect(nextSorting(second, 'reward')).toEqual({ column: 'reward', direction: 'descending' });
  });
});

describe('sortRows', () => {
  it("leaves rows unsorted without a column, or with one that can't be sorted", () => {
    expect(sortRows(rows, null)).toBe(rows);
    expect(sortRows(rows, { column: 'shape', direction: 'ascending' })).toBe(rows);
  });

  it('counts a missing value as the lowest, and keeps equal rows in their order', () => {
    expect(sorted('reward', 'descending')).toEqual([2, 4, 1, 3]);
    expect(sorted('reward', 'ascending')).toEqual([3, 4, 1, 2]);
  });

  it('reads numbers in words as numbers', () => {
    expect(sorted('dataset', 'ascending')).toEqual([2, 1, 4, 3]);
    expect(sorted('name', 'ascending')).toEqual([3, 2, 4, 1]);
  });
});
