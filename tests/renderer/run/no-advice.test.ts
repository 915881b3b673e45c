import { describe, expect, it } from 'vitest';
import { noAdvice } from '../../../renderer/run/no-advice.ts';

describe('noAdvice', () => {
  it("doesn't say that there is nothing to do where the verdict says what to do, good or bad", () => {
    expect(noAdvice({ remedy: 'Stop here and start the next stage from this checkpoint.' }, false)).toBe(
      'What to do is in the verdict above.',
    );
    expect(noAdvice({ remedy: null }, false)).toBe('No advice: nothing stands out so far.');
    expect(noAdvice({ remedy: null }, true)).toBe('No advice: nothing stands out.');
  });
});
