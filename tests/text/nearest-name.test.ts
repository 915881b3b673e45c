import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName } from '../../main/text/nearest-name.ts';

describe('nearestName', () => {
  it('finds what differs in up to three letters, the nearest first', () => {
    expect(nearestName('promt', ['prompt', 'prompts'])).toBe('prompt');
    expect(nearestName('secnd-txt', ['second-text'])).toBe('second-text');
    expect(nearestName('entirely', ['prompt'])).toBeUndefined();
    expect(nearestName('bias', ['task'])).toBeUndefined();
    expect(nearestName('PY', ['p', 'py'])).toBe('py');
  });

  it('guesses nothing for a text that is not a name, however long', () => {
    const long = 'x'.repeat(300_000);
    expect(nearestName(`${long}y`, [`${long}z`])).toBeUndefined();
  });
});

describe('didYouMean', () => {
  it('is a question, or nothing', () => {
    expect(didYouMean('prompt')).toBe('; did you mean "prompt"?');
    expect(didYouMean(undefined)).toBe('');
  });
});
