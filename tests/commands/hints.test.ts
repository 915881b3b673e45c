import { describe, expect, it } from 'vitest';
import { commandHint } from '../../main/commands/hints.ts';

describe('commandHint', () => {
  it('adds the command to what a message leads to in the app', () => {
    expect(commandHint({ code: 'ENGINE_UNKNOWN', message: '' })).toBe('On the command line: `braid engine add`.');
    expect(commandHint({ code: 'SOMETHING_ELSE', message: '' })).toBeNull();
  });

  it('names the download of a model of the Hub, and none of another folder', () => {
    const message = 'someone/small: there is no such folder, and no model of that name has been downloaded';
    expect(commandHint({ code: 'MODEL_MISSING', message })).toBe(
      'On the command line: `braid download someone/small`.',
    );
    expect(commandHint({ code: 'MODEL_MISSING', message: '/x: expected a model folder' })).toBeNull();
  });

  it('agrees to what a refusal names, by its hash', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
    const message = `it runs x (component "x", ${a}); it sends y (component "y", ${b}, plain http). Nothing was run`;
    expect(commandHint({ code: 'REWARD_NOT_ALLOWED', message })).toBe(
      `On the command line: \`braid task allow NAME\`, or --allow-external ${a} --allow-external ${b} --allow-plain-http.`,
    );
  });
});
