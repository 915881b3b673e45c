import { describe, expect, it } from 'vitest';
import { readHash } from '../../../renderer/frame/hash-location.ts';

describe('readHash', () => {
  it('tells the path from what is asked of it', () => {
    expect(readHash('#/samples?run=7&q=what?')).toEqual({ path: '/samples', search: 'run=7&q=what?' });
    expect(readHash('#/runs/3')).toEqual({ path: '/runs/3', search: '' });
    expect(readHash('#runs')).toEqual({ path: '/runs', search: '' });
    expect(readHash('')).toEqual({ path: '/', search: '' });
  });
});
