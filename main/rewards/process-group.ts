/** Programs that Braid runs for a task: in a folder of their own, and in a group that ends with them. */
import { ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { processExists } from '../io/process-exists.ts';
import { programHere } from '../io/programs.ts';
import { type CommandFiles, PROXY_VARIABLES } from '../tasks/external/access.ts';

/** What is younger may be of another container, whose processes can't be seen from here. */
const MIN_AGE_MS = 24 * 3_600_000;

/** A new folder with these files; those that killed processes have left go. */
export function folderOf(files: CommandFiles): string {
  sweepFolders();
  const folder = mkdtempSync(join(tmpdir(), `braid-reward-${process.pid}-`));
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

function sweepFolders(): void {
  for (const name of namesIn(tmpdir())) {
    const pid = Number(/^braid-reward-(\d+)-/.exec(name)?.[1]);
    if (!(pid > 0) || processExists(pid)) continue;
    const folder = join(tmpdir(), name);
    try {
      if (Date.now() - statSync(folder).mtimeMs > MIN_AGE_MS) rmSync(folder, { recursive: true });
    } catch {
      // Another user's, or gone already: it only takes a little space.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // One that can be written but not read.
    return [];
  }
}

/** Starts a program in a group of its own, so that whatever it starts ends with it. What can't be started has an `error` event. */
export function startGroup(command: readonly string[], folder: string, stdio: StdioOptions): ChildProcess {
  const [program = '', ...args] = command;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !PROXY_VARIABLES.includes(name.toUpperCase())),
  );
  try {
    return spawn(programHere(program), args, { cwd: folder, stdio, env, detached: process.platform !== 'win32' });
  } catch (error) {
    // Node throws some of the system's refusals, as Windows' of a script or a batch file.
    const child = new ChildProcess();
    process.nextTick(() => child.emit('error', error));
    return child;
  }
}

/** Ends a program with whatever it has started; see `startGroup`. */
export function killGroup(child: Pick<ChildProcess, 'pid' | 'kill'>, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') killTree(child.pid);
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended, with all that it started.
  }
}

/** Windows knows no groups, but who started whom: the python.exe of a virtual environment is a launcher of another. */
function killTree(pid: number): void {
  const taskkill = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'taskkill.exe');
  execFileSync(taskkill, ['/pid', `${pid}`, '/t', '/f'], { stdio: 'ignore', timeout: 5000 });
}
