/** `braid doctor`: what this machine can run. */
import type { Command } from 'commander';
import { examine } from '../services/doctor.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

/** Adds `doctor` to the program. */
export function registerDoctor(program: Command): void {
  withCommonOptions(program.command('doctor'))
    .description('what this machine can run, and what to do where something is missing')
    .addHelpText('after', '\nExit code 1 when something that the embedded backend needs is missing, else 0.')
    .action((_options: unknown, command: Command) => doctor(command));
}

async function doctor(command: Command): Promise<void> {
  const context = commandContext(command);
  const { workspace, threads } = context;
  const checks = await followJob('checking', context, (job) =>
    examine({ paths: hostPaths(), workspace, threads, ...job }),
  );
  if (checks === null) return;
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { status, name, detail, next } of checks) {
    context.print(`${status.padEnd(4)}  ${name.padEnd(width)}  ${detail}`);
    if (next !== null) context.print(`${' '.repeat(6 + width + 2)}${next}`);
  }
  const failed = checks.filter(({ status }) => status === 'FAIL');
  context.print(
    failed.length === 0
      ? '\nBraid works here.'
      : `\nBraid can't work here yet: ${failed.map(({ name }) => name).join(', ')}.`,
  );
  context.out({ ok: failed.length === 0, checks });
  if (failed.length > 0) process.exitCode = 1;
}
