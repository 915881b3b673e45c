import { describe, expect, it } from 'vitest';
import { defaultView, readView } from '../../../renderer/runs/remembered-view.ts';
import { defaultColumns } from '../../../renderer/runs/run-columns.ts';

describe('readView', () => {
  it('reads the stored columns in their own order, always with the name', () => {
    expect(readView('{"columns":["model","id"],"groupBy":"stage"}')).toEqual({
      columns: ['id', 'name', 'model'],
      groupBy: 'stage',
      sorting: null,
    });
    const sorting = { column: 'name', direction: 'ascending' };
    expect(readView(JSON.stringify({ sorting })).sorting).toEqual(sorting);
    expect(readView(JSON.stringify({ sorting: { column: 'moon', direction: 'ascending' } })).sorting).toBeNull();
  });

  it('has no chosen columns where only the grouping was', () => {
    expect(readView(JSON.stringify({ ...defaultView, groupBy: 'stage' }))).toEqual({
      ...defaultView,
      groupBy: 'stage',
    });
    // Earlier versions stored the default columns with it.
    expect(readView(JSON.stringify({ columns: defaultColumns(1400), groupBy: 'stage' })).columns).toBeNull();
  });

  it('is the default where nothing usable was stored', () => {
    for (const stored of [null, 'no json', '{"columns":7,"groupBy":"moon"}'])
      expect(readView(stored)).toEqual(defaultView);
  });
});
