import { describe, expect, it } from 'vitest';
import { captionPlaces } from '../../../renderer/charts/caption-places.ts';

describe('captionPlaces', () => {
  it('begins a row where a name would be cut off at the edge', () => {
    expect(captionPlaces([60, 10, 100, 100, 400, 50], 300)).toEqual([
      { x: 0, row: 0 },
      { x: 68, row: 0 },
      { x: 86, row: 0 },
      { x: 194, row: 0 },
      { x: 0, row: 1 },
      { x: 0, row: 2 },
    ]);
  });
});
