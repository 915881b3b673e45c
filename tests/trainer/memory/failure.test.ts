import { describe, expect, it } from 'vitest';
import { describeFailure } from '../../../main/trainer/memory/failure.ts';

describe('describeFailure', () => {
  it('says in its own words that memory ran out', () => {
    const tensorflow = new Error('Invalid TF_Status: 8\nMessage: OOM when allocating tensor with shape[4096,128256]');
    for (const error of [tensorflow, new RangeError('Array buffer allocation failed')]) {
      const { code, message, remedy, input } = describeFailure(error);
      expect({ code, input }).toEqual({ code: 'OUT_OF_MEMORY', input: false });
      expect(message).not.toMatch(/TF_Status|tensor|buffer/);
      expect(remedy).toContain('max_completion_length');
    }
  });
});
