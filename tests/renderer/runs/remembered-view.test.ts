import { describe, expect, it } from 'vitest';
import { defaultView, readView } from '../../../renderer/runs/remembered-view.ts';

describe('readView', () => {
  it('reads the stored columns in their own order, always with the name', () => {
    expect(readView('{"columns":["model","id"],"groupBy":"stage"}')).toEqual({
      columns: ['id', 'name', 'model'],
      groupBy: 'stage',
    });
  });

  it('is the default where nothing usable was stored', () => {
    for (const stored of [null, 'no json', '{"columns":7,"groupBy":"moon"}'])
      expect(readView(stored)).toEqual(defaultView);
  });
});
