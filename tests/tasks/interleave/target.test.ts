import { describe, expect, it } from 'vitest';
import { interleaveWords } from '../../../main/tasks/interleave/target.ts';

describe('interleaveWords', () => {
  it('takes a word from each in turn', () => {
    expect(interleaveWords(['a1', 'a2'], ['b1', 'b2'])).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  it('continues with the longer one', () => {
    expect(interleaveWords(['a1'], ['b1', 'b2', 'b3'])).toEqual(['a1', 'b1', 'b2', 'b3']);
  });
});
