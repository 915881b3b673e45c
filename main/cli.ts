/** The braid command: parses arguments, runs one command, turns failures into messages and exit codes. */
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { checkoutPaths, setHostPaths } from './commands/host-paths.ts';
import { addCommands } from './commands/index.ts';
import { BraidError } from './errors.ts';
import { visible, visibleFault } from './text/visible.ts';

setHostPaths(checkoutPaths(join(import.meta.dirname, '..')));

// A reader that closes the pipe early (`| head`) is no failure of ours; EIO is a terminal that was closed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EIO') process.exit(error.code === 'EPIPE' ? 0 : 1);
});

// Progress that nobody can read any more, of a terminal that was closed for instance, must not keep a run from saving.
process.stderr.on('error', () => undefined);

const program = new Command('braid')
  .description('Train language models by GRPO on your own machine.')
  .showHelpAfterError('(braid COMMAND --help shows the options)')
  .configureHelp({ subcommandTerm: (command) => command.name() })
  .exitOverride();
await addCommands(program, process.argv.slice(2));
program.hook('preAction', async (_, command) => (await import('./commands/download.ts')).useHubModels(command));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = await explain(error);
}

/** Prints the error on stderr. 1: failed; 2: bad arguments or input. */
async function explain(thrown: unknown): Promise<number> {
  // Not before there is an error: SQLite is a good part of what a short command would load.
  const { databaseError } = await import('./store/errors.ts');
  const error = databaseError(thrown, 'of the workspace');
  // Commander has already printed its message; showing help is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof BraidError)) {
    process.stderr.write(`braid: ${visibleFault(error)}\n`);
    return 1;
  }
  const { commandHint } = await import('./commands/hints.ts');
  const more = [error.remedy, commandHint(error)].flatMap((line) => (line == null ? [] : [`       ${line}\n`]));
  process.stderr.write(visible(`braid: ${error.message}\n${more.join('')}`));
  return error.kind === 'input' ? 2 : 1;
}
