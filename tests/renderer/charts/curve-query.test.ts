import { describe, expect, it } from 'vitest';
import { curveQuery } from '../../../renderer/charts/curve-query.ts';

describe('curveQuery', () => {
  it('is refreshed while a run trains, and fetched again where it ended', () => {
    const early = curveQuery({ id: 3, state: 'running', step: 2 });
    const ended = curveQuery({ id: 3, state: 'done', step: 12 });
    expect(early).toMatchObject({ refetchInterval: expect.any(Number), refetchOnMount: 'always' });
    expect(ended).toMatchObject({ refetchInterval: false, refetchOnMount: true });
    expect(ended.queryKey).not.toEqual(early.queryKey);
    expect(curveQuery({ id: 3, state: 'done', step: 12 }).queryKey).toEqual(ended.queryKey);
  });
});
