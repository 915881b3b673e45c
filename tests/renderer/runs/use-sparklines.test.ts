import { describe, expect, it } from 'vitest';
import { sparklinesAround } from '../../../renderer/runs/use-sparklines.ts';

describe('sparklinesAround', () => {
  it('uses the same query for all runs of a block, so that it is fetched once', () => {
    const keys = [1, 17, 32, 33].map((id) => JSON.stringify(sparklinesAround(id).queryKey));
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).toBe(keys[0]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[0]).toContain('[1,2,3,');
  });
});
