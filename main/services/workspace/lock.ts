/** One app per workspace: the first locks it, a second gets an error that names the holder. Command-line commands don't lock it. */

import { randomUUID } from 'node:crypto';
import { rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BraidError } from '../../errors.ts';
import { writeError, writeFileAtomic } from '../../io/atomic-write.ts';
import { readRegular } from '../../io/read-file.ts';
import { exclusively } from '../../store/exclusive.ts';
import { currentHost, isHostAlive } from './host.ts';

const holderSchema = z.object({
  pid: z.int().min(1),
  hostId: z.string(),
  /** A description: "the desktop app", "braid serve on port 4127". */
  what: z.string(),
  /** Within the range of a date. */
  since: z.number().min(0).max(8.64e15),
});

export type LockHolder = Readonly<z.infer<typeof holderSchema>>;

export interface WorkspaceLock {
  release(): void;
}

const LOCK = 'the lock of the workspace';
/** How often a lock is renewed: several times before another machine counts its holder as gone (host.ts). */
const RENEW_MS = 30_000;

/**
 * Locks the workspace, or throws WORKSPACE_HELD with the holder. The lock of an exited process is ignored. Whoever judges
 * the holder and takes its place does both alone, so that no two can find the same one gone.
 */
export function lockWorkspace(root: string, what: string, now: () => number = Date.now): WorkspaceLock {
  const file = join(root, '.braid-app.json');
  const alone = <T>(work: () => T): T => exclusively(join(root, '.braid-lock'), LOCK, work);
  const mine: LockHolder = { ...currentHost(), what, since: now() };
  const content = `${JSON.stringify({ ...mine, key: randomUUID() })}\n`;
  alone(() => {
    const holder = readHolder(file);
    if (holder !== null && isHostAlive(holder, now())) throw held(root, holder);
    take(file, content);
  });
  const renewing = setInterval(() => renew(file, content), RENEW_MS).unref();
  return {
    release: () => {
      clearInterval(renewing);
      release(file, content, alone);
    },
  };
}

function take(file: string, content: string): void {
  try {
    // A folder of that name is no lock either, and would stop us for ever.
    rmSync(file, { force: true, recursive: true });
  } catch (error) {
    throw writeError(error, file, LOCK);
  }
  writeFileAtomic(file, content, { what: LOCK });
}

/** The holder, with the time of its last renewal. */
function readHolder(file: string): (LockHolder & { readonly heartbeatAt: number }) | null {
  try {
    const holder = holderSchema.safeParse(JSON.parse(readRegular(file).toString('utf8'))).data;
    return holder === undefined ? null : { ...holder, heartbeatAt: statSync(file).mtimeMs };
  } catch {
    // Removed meanwhile, truncated by a crash, or written by another program: not held.
    return null;
  }
}

function held(root: string, { pid, what, since }: LockHolder): BraidError {
  const when = new Date(since).toISOString().replace('T', ' ').slice(0, 16);
  return new BraidError(
    'WORKSPACE_HELD',
    `The workspace ${root} is already open in ${what} (process ${pid}, since ${when} UTC)`,
    { kind: 'input', remedy: 'Use that one or close it, or open another workspace with --workspace.' },
  );
}

/** Another machine, or this one under another name, can't ask for the process: it judges by the file's modification time. */
function renew(file: string, content: string): void {
  try {
    const now = new Date();
    if (isOurs(file, content)) utimesSync(file, now, now);
  } catch {
    // The folder is away, such as a network share: the next renewal may reach it again.
  }
}

function release(file: string, content: string, alone: (work: () => void) => void): void {
  try {
    alone(() => {
      if (isOurs(file, content)) rmSync(file, { force: true });
    });
  } catch {
    // Already removed.
  }
}

/** After a crash and a restart, or a long sleep, the file may belong to another process. */
function isOurs(file: string, content: string): boolean {
  return readRegular(file).toString('utf8') === content;
}
