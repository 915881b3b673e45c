import { describe, expect, it } from 'vitest';
import { recentPlaces, rememberPlace } from '../../../renderer/frame/recent-places.ts';

describe('rememberPlace', () => {
  it('keeps the places of each workspace apart', () => {
    const held = new Map<string, string>();
    const store = {
      getItem: (key: string) => held.get(key) ?? null,
      setItem: (key: string, value: string) => void held.set(key, value),
    };
    rememberPlace('/work', '/runs/7', store);
    rememberPlace('/work', '/tasks/rhyme', store);
    rememberPlace('/other', '/runs/1', store);
    expect(recentPlaces('/work', store)).toEqual(['/tasks/rhyme', '/runs/7']);
    expect(recentPlaces('/other', store)).toEqual(['/runs/1']);
  });
});
