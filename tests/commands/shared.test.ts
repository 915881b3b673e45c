import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandContext, wholeNumber, withCommonOptions } from '../../main/commands/shared.ts';
import { runCommand } from './run-command.ts';

describe('commandContext', () => {
  it('lets no text of a file or a model control the terminal', async () => {
    const text = 'a\u001b[2J\u202eb\u2028c';
    const said = (...options: readonly string[]) =>
      runCommand(
        (program) => {
          withCommonOptions(program.command('say')).action((_: object, command: Command) => {
            const context = commandContext(command);
            for (const write of [context.print, context.say]) write(text);
            context.out({ text });
          });
        },
        ...['say', ...options],
      );
    const shown = 'a\\u001b[2J\\u202eb\nc\n';
    expect(await said()).toEqual({ stdout: shown, stderr: shown, error: null });
    const { stdout } = await said('--json');
    expect(stdout).toContain('a\\u001b[2J\\u202eb');
    expect(JSON.parse(stdout)).toEqual({ text });
  });
});

describe('wholeNumber', () => {
  it('says which limit a number is beyond', () => {
    expect(wholeNumber('--seed', '9007199254740991', 0)).toBe(9007199254740991);
    expect(() => wholeNumber('--seed', '9007199254740993', 0)).toThrow(
      'Expected --seed to be a whole number of at most 9007199254740991, got "9007199254740993"',
    );
    for (const value of ['-1', '1.5', 'x', '', '1e999'])
      expect(() => wholeNumber('--seed', value, 0)).toThrow(
        `Expected --seed to be a whole number of at least 0, got "${value}"`,
      );
  });
});
