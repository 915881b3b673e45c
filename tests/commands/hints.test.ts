import { describe, expect, it } from 'vitest';
import { commandHint } from '../../main/commands/hints.ts';

describe('commandHint', () => {
  it('adds the command to what a message leads to in the app', () => {
    expect(commandHint({ code: 'ENGINE_UNKNOWN', message: '' })).toBe('On the command line: `braid engine add`.');
    expect(commandHint({ code: 'SOMETHING_ELSE', message: '' })).toBeNull();
  });

  it('agrees to what a refusal names, by its hash', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
    const message = `it runs x (component "x", ${a}); it sends y (component "y", ${b}, plain http). Nothing was run`;
    expect(commandHint({ code: 'REWARD_NOT_ALLOWED', message })).toBe(
      `On the command line: \`braid task allow NAME\`, or --allow-external ${a} --allow-external ${b} --allow-plain-http.`,
    );
  });
});
