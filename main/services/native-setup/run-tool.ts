/** Runs a system program: pip, npm, tar, the compiler. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BraidError } from '../../errors.ts';
import { startReason } from '../../io/start-reason.ts';

const run = promisify(execFile);

export interface ToolOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** What to do when the program is missing or fails. */
  readonly remedy: string;
}

/** Runs a program; if it fails, the error contains the end of its output. */
export async function runTool(program: string, args: readonly string[], options: ToolOptions): Promise<string> {
  const { cwd, env, signal, remedy } = options;
  try {
    const { stdout } = await run(program, [...args], {
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
      ...(signal === undefined ? {} : { signal }),
      maxBuffer: 64 * 2 ** 20,
    });
    return stdout;
  } catch (cause) {
    if (isInterruption(cause)) throw cause;
    throw new BraidError('TOOL_FAILED', `${program}: ${explain(cause, program)}`, { cause, remedy });
  }
}

/** Whether an error means that the user cancelled. */
export function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function explain(error: unknown, program: string): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
  if (code === 'ENOENT') return 'this program is not on the PATH';
  if (typeof code === 'string' && (stderr ?? '') === '') return `it can't be started: ${startReason(error, program)}`;
  const last = (stderr ?? '').trim().split('\n').slice(-6).join('\n');
  return last === '' ? message : `it failed with ${String(code)}:\n${last}`;
}
