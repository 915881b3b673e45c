/**
 * The list of commands in docs/commands.md, generated from their own help. After a change of a command:
 *
 *   node tests/docs/commands-table.ts
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { commands } from '../../main/commands/index.ts';
import { withCommonOptions } from '../../main/commands/shared.ts';
import { writePart } from '../../scripts/generated-part.ts';

export const commandsFile = fileURLToPath(new URL('../../docs/commands.md', import.meta.url));
export const COMMANDS = 'commands';

/** One line per command: how it is called, what it does, its options beside the common ones. */
export async function commandsList(): Promise<string> {
  const program = new Command('braid');
  for (const { load, name, about } of commands) {
    (await load())(program);
    program.commands.find((command) => command.name() === name)?.summary(about);
  }
  const all = program.commands.flatMap((command) => leaves(command));
  return all.map(({ path, command }) => line(path, command)).join('\n');
}

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

function leaves(command: Command, parent = ''): Leaf[] {
  const path = `${parent}${command.name()}`;
  const inside = command.commands.flatMap((sub) => leaves(sub, `${path} `));
  const runsItself = inside.length === 0 || command.options.length > 0 || command.registeredArguments.length > 0;
  return runsItself ? [{ path, command }, ...inside] : inside;
}

const common: ReadonlySet<string> = new Set(
  withCommonOptions(new Command()).options.flatMap(({ long }) => (typeof long === 'string' ? [long] : [])),
);

function line(path: string, command: Command): string {
  const given = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`.toUpperCase();
    return argument.required ? ` ${name}` : ` [${name}]`;
  });
  const own = command.options.flatMap(({ long, hidden }) =>
    typeof long === 'string' && !hidden && !common.has(long) ? [`\`${long}\``] : [],
  );
  const options = own.length === 0 ? '' : `. ${own.join(' ')}`;
  return `- \`${path}${given.join('')}\`: ${command.description() || command.summary()}${options}`;
}

if (import.meta.main) writePart(commandsFile, COMMANDS, await commandsList());
