import { describe, expect, it } from 'vitest';
import { noAdvice } from '../../../renderer/run/no-advice.ts';

describe('noAdvice', () => {
  it("doesn't say that there is nothing to do where the verdict says what to do, good or bad", () => {
    expect(noAdvice({ remedy: 'Stop here and start the next stage from this checkpoint.' })).toMatch(
      /^What to do now is/,
    );
    expect(noAdvice({ remedy: null })).toMatch(/^No advice/);
  });
});
