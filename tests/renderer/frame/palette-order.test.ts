import { describe, expect, it } from 'vitest';
import { ordered, rank } from '../../../renderer/frame/palette-order.ts';
import { visited } from '../../../renderer/frame/recent-places.ts';

describe('rank', () => {
  it('prefers the label, then its beginning, a word of it, its inside, and what is said about it', () => {
    const ranks = ['runs', 'ru', 'wor', 'ord'].map((query) =>
      rank({ label: query === 'ru' ? 'runs' : query === 'runs' ? 'Runs' : '10 words' }, query),
    );
    expect(ranks).toEqual([0, 1, 2, 3]);
    expect(rank({ label: 'lr-test', description: 'done', keywords: ['run 7'] }, 'done 7')).toBe(4);
    expect(rank({ label: 'lr-test' }, 'replies')).toBeNull();
  });
});

describe('ordered', () => {
  const groups = [
    { group: 'On this screen', actions: [{ label: 'Find a run' }] },
    { group: 'Go to', actions: [{ label: 'Runs' }, { label: 'Replies' }] },
    { group: 'Runs', actions: [{ label: 'trial-run' }, { label: 'run-0001' }] },
  ];

  it('puts the group with the best match first, and in it the best match', () => {
    expect(ordered('runs', groups).map(({ group }) => group)).toEqual(['Go to']);
    expect(ordered('run', groups).map(({ group, actions }) => [group, actions.map(({ label }) => label)])).toEqual([
      ['Go to', ['Runs']],
      ['Runs', ['run-0001', 'trial-run']],
      ['On this screen', ['Find a run']],
    ]);
  });

  it('leaves everything in its order until something is typed', () => {
    expect(ordered('  ', groups)).toEqual(groups);
  });
});

describe('visited', () => {
  it('keeps the newest six things, each once, and no screens', () => {
    const seven = [1, 2, 3, 4, 5, 6, 7].reduce<readonly string[]>((list, id) => visited(list, `/runs/${id}`), []);
    expect(seven).toEqual([7, 6, 5, 4, 3, 2].map((id) => `/runs/${id}`));
    expect(visited(seven, '/runs/4')[0]).toBe('/runs/4');
    expect(visited(seven, '/runs/4')).toHaveLength(6);
    expect(visited(seven, '/settings')).toBe(seven);
    expect(visited([], '/curriculum?stage=2')).toEqual(['/curriculum?stage=2']);
  });
});
