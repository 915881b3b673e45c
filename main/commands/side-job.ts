/** What the commands that run a side job share: a progress line, and Ctrl-C that ends the job. */
import { BraidError } from '../errors.ts';
import type { JobOptions } from '../services/trainer-job.ts';
import { openProgress, type Progress } from './progress.ts';
import type { CommandContext } from './shared.ts';

/** Runs a job with a progress line. On Ctrl-C the job ends, the exit code is 130 and the result is null. */
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
  try {
    return await withInterruption(context, (signal) => run({ signal, onProgress }));
  } finally {
    (progress as Progress | null)?.end();
  }
}

/** Runs work that Ctrl-C ends; the exit code is then 130 and the result null. */
export async function withInterruption<T>(
  context: CommandContext,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  try {
    return await run(controller.signal);
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'INTERRUPTED') throw error;
    context.say(`\n${error.message}`);
    process.exitCode = 130;
    return null;
  } finally {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  }
}
