import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Whether a process of this machine, or of this container, exists. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** What was asked in the last minute: Windows needs half a second to answer. */
const known = new Map<number, { readonly start: number | null; readonly askedAt: number }>();
const KEPT_MS = 60_000;

/** When a process started, in milliseconds since 1970, to the second; null: the system doesn't say. */
export function processStart(pid: number): number | null {
  if (pid === process.pid) return Date.now() - process.uptime() * 1000;
  const kept = known.get(pid);
  if (kept !== undefined && performance.now() - kept.askedAt < KEPT_MS) return kept.start;
  const start = askedStart(pid);
  known.set(pid, { start, askedAt: performance.now() });
  return start;
}

function askedStart(pid: number): number | null {
  const [program, ...args] =
    process.platform === 'win32' ? fromPowerShell(pid) : ['/bin/ps', '-o', 'lstart=', '-p', `${pid}`];
  const env = { ...process.env, LC_ALL: 'C' };
  try {
    const said = execFileSync(program, args, {
      env,
      encoding: 'utf8',
      timeout: 5000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Date.parse(said.trim()) || null;
  } catch {
    return null;
  }
}

function fromPowerShell(pid: number): readonly [string, ...string[]] {
  const folder = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'WindowsPowerShell', 'v1.0');
  const start = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ')`;
  return [join(folder, 'powershell.exe'), '-NoProfile', '-NonInteractive', '-Command', start];
}
