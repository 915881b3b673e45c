/** Shared by commands that run a side job: a progress line, and Ctrl-C that cancels the job. */
import { BraidError } from '../errors.ts';
import type { JobOptions } from '../services/trainer-process/job.ts';
import { INTERRUPTED } from './interrupt.ts';
import { openProgress, type Progress } from './progress.ts';
import { type CommandContext, END_SIGNALS } from './shared.ts';

/** Runs a job with a progress line. On Ctrl-C the job is cancelled, the exit code is 130 and the result null. */
export async function followJob<T>(
  label: string,
  context: CommandContext,
  run: (options: Required<JobOptions>) => Promise<T>,
): Promise<T | null> {
  let progress: Progress | null = null;
  const onProgress: JobOptions['onProgress'] = ({ done, total, unit }) => {
    progress ??= openProgress({ label, total, unit }, context.quiet);
    progress.update(done);
  };
  // Once for all jobs of a command.
  let warned = false;
  const onWarning = (warning: string): void => {
    if (!warned) context.say(`Warning: ${warning}.`);
    warned = true;
  };
  try {
    return await withInterruption(context, (signal) => run({ signal, onProgress, onWarning }));
  } finally {
    (progress as Progress | null)?.end();
  }
}

/** Runs work that Ctrl-C cancels; the exit code is then 130 and the result null. */
export async function withInterruption<T>(
  context: CommandContext,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of END_SIGNALS) process.on(signal, abort);
  try {
    return await run(controller.signal);
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'INTERRUPTED') throw error;
    context.say(`\n${error.message}`);
    process.exitCode = INTERRUPTED;
    return null;
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, abort);
  }
}
