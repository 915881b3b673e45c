import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommands, commands } from '../../main/commands/index.ts';

async function program(...args: string[]): Promise<Command> {
  const made = new Command('braid').exitOverride();
  await addCommands(made, args);
  return made;
}

describe('addCommands', () => {
  it.each(commands)('loads what $name needs when it is asked for', async ({ name, about }) => {
    const { commands: made } = await program(name, '--quiet');
    expect(made).toHaveLength(commands.length);
    const own = made.find((command) => command.name() === name);
    expect(own?.description()).toBe(about);
    expect((own?.options.length ?? 0) + (own?.commands.length ?? 0)).toBeGreaterThan(0);
    const others = made.filter((command) => command !== own);
    expect(others.every(({ options }) => options.length === 0)).toBe(true);
  });

  it('loads the command whose help is asked for, and none for a list of all', async () => {
    const optionsOf = (made: Command) => made.commands.filter(({ options }) => options.length > 0);
    expect(optionsOf(await program('help', 'score')).map((command) => command.name())).toEqual(['score']);
    expect(optionsOf(await program('--help'))).toEqual([]);
  });
});
