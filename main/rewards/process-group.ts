/** Programs that Braid runs for a task: in a folder of their own, and in a group that ends with them. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CommandFiles } from '../tasks/external/access.ts';

/** A new folder with these files. */
export function folderOf(files: CommandFiles): string {
  const folder = mkdtempSync(join(tmpdir(), 'braid-reward-'));
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

/** Ends a program with whatever it has started; it was started detached, but on Windows. */
export function killGroup(child: Pick<ChildProcess, 'pid' | 'kill'>, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended, with all that it started.
  }
}
