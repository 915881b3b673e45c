/** The braid command: parses arguments, runs one command, turns failures into messages and exit codes. */
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { registerBench } from './commands/bench.ts';
import { registerCompare } from './commands/compare.ts';
import { registerConfig } from './commands/config.ts';
import { registerDataset } from './commands/dataset.ts';
import { registerDemo } from './commands/demo.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerEvaluate } from './commands/evaluate.ts';
import { registerExport } from './commands/export.ts';
import { checkoutPaths, setHostPaths } from './commands/host-paths.ts';
import { registerMcp } from './commands/mcp.ts';
import { registerMerge } from './commands/merge.ts';
import { registerReplies } from './commands/replies.ts';
import { registerScore } from './commands/score.ts';
import { registerServe } from './commands/serve.ts';
import { registerSetupNative } from './commands/setup-native.ts';
import { registerSplit } from './commands/split.ts';
import { registerTask } from './commands/task.ts';
import { registerTexts } from './commands/texts.ts';
import { registerTrain } from './commands/train.ts';
import { registerTrial } from './commands/trial.ts';
import { registerWatch } from './commands/watch.ts';
import { BraidError } from './errors.ts';
import { databaseError } from './store/errors.ts';

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
  .exitOverride();
for (const register of [
  registerDemo,
  registerReplies,
  registerTask,
  registerTexts,
  registerDataset,
  registerSplit,
  registerTrain,
  registerWatch,
  registerConfig,
  registerTrial,
  registerEvaluate,
  registerCompare,
  registerScore,
  registerExport,
  registerMerge,
  registerBench,
  registerServe,
  registerMcp,
  registerDoctor,
  registerSetupNative,
])
  register(program);
for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** Prints the error on stderr. 1: failed; 2: bad arguments or input. */
function explain(thrown: unknown): number {
  const error = databaseError(thrown, 'of the workspace');
  // Commander has already printed its message; showing help is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof BraidError)) {
    process.stderr.write(`braid: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  }
  process.stderr.write(`braid: ${error.message}\n${error.remedy === undefined ? '' : `       ${error.remedy}\n`}`);
  return error.kind === 'input' ? 2 : 1;
}
