import { describe, expect, it } from 'vitest';
import { groupRows, runIds } from '../../../renderer/runs/run-groups.ts';
import type { RunRowView } from '../../../renderer/runs/run-rows.ts';

const row = (id: number, change: Partial<RunRowView>): RunRowView =>
  ({ id, role: `run-${id}`, stage: null, tags: [], heldOut: null, ...change }) as RunRowView;

describe('groupRows', () => {
  it('groups the seeds of an experiment, with the mean and spread of their held-out scores', () => {
    const groups = groupRows(
      [
        row(3, { role: 'lr/seed_43', heldOut: 0.9 }),
        row(2, {}),
        row(1, { role: 'lr/seed_42', heldOut: 0.7 }),
        row(4, { role: 'lr/seed_44' }),
      ],
      'experiment',
    );
    expect(groups.map(({ title, rows }) => [title, rows.map(({ id }) => id)])).toEqual([
      ['lr', [3, 1, 4]],
      ['no experiment', [2]],
    ]);
    expect(groups[0]?.heldOut).toEqual({ n: 2, mean: 0.8, std: expect.closeTo(Math.sqrt(0.02), 12) });
    expect(groups[1]?.heldOut).toBeNull();
  });

  it('shows a run under each of its tags, and a single score without a spread', () => {
    const groups = groupRows([row(1, { tags: ['a', 'b'], heldOut: 0.5 }), row(2, { tags: ['b'] })], 'tag');
    expect(groups.map(({ title, rows }) => [title, rows.length])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(groups[1]?.heldOut).toEqual({ n: 1, mean: 0.5, std: null });
  });

  it('keeps runs outside the curriculum together', () => {
    expect(groupRows([row(1, { stage: '10 words' }), row(2, {})], 'stage').map(({ title }) => title)).toEqual([
      '10 words',
      'free runs',
    ]);
  });
});

describe('runIds', () => {
  it('names a run with two tags once', () => {
    const rows = groupRows([row(1, { tags: ['a', 'b'] }), row(2, { tags: ['b'] })], 'tag').flatMap(
      (group) => group.rows,
    );
    expect(rows.map(({ id }) => id)).toEqual([1, 1, 2]);
    expect(runIds(rows)).toEqual([1, 2]);
  });
});
