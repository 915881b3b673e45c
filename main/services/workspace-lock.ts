/** One app a workspace: the first holds it, a second is told who does. Commands of the command line don't take it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../errors.ts';
import { writeError } from '../files.ts';
import { currentHost, isHostAlive } from './host.ts';

export interface LockHolder {
  readonly pid: number;
  readonly hostId: string;
  /** What it is, in words: "the desktop app", "braid serve on port 4127". */
  readonly what: string;
  readonly since: number;
}

export interface WorkspaceLock {
  release(): void;
}

/** Takes the workspace, or throws WORKSPACE_HELD with who holds it. A holder that is gone is passed over. */
export function lockWorkspace(root: string, what: string, now: () => number = Date.now): WorkspaceLock {
  const file = join(root, '.braid-app.json');
  const mine: LockHolder = { ...currentHost(), what, since: now() };
  const content = `${JSON.stringify(mine)}\n`;
  for (;;) {
    try {
      // Fails where the file is there: of two that start at once, one gets it.
      writeFileSync(file, content, { flag: 'wx' });
      return { release: () => release(file, content) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
        throw writeError(error, file, 'the lock of the workspace');
    }
    const holder = readHolder(file);
    if (holder !== null && isHostAlive({ ...holder, heartbeatAt: holder.since }, now())) throw held(root, holder);
    rmSync(file, { force: true });
  }
}

function readHolder(file: string): LockHolder | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockHolder;
  } catch {
    // Gone meanwhile, or cut off by a crash: nobody's.
    return null;
  }
}

function held(root: string, { pid, what, since }: LockHolder): BraidError {
  const when = new Date(since).toISOString().replace('T', ' ').slice(0, 16);
  return new BraidError(
    'WORKSPACE_HELD',
    `Expected to open the workspace ${root}, but ${what} (process ${pid}, since ${when} UTC) holds it`,
    { kind: 'input', remedy: 'Use that one or close it, or open another workspace with --workspace.' },
  );
}

/** Only what is still ours: after a crash and a restart the file may be another's. */
function release(file: string, content: string): void {
  try {
    if (readFileSync(file, 'utf8') === content) rmSync(file, { force: true });
  } catch {
    // It is gone already.
  }
}
