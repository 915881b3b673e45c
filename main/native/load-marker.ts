/**
 * Where no process can be started just to try the addon (a packaged Electron app is no Node for others), the first
 * load is the trial: a mark stands beside the set-up while it lasts, and one that a dead process left says that it ended
 * that process.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeLayout } from './folder.ts';
import type { NativeProblem } from './problems.ts';

const PREFIX = 'loading-';

/** Whether a load of this set-up ended its process. */
export function crashedBefore({ root }: Pick<NativeLayout, 'root'>): NativeProblem | null {
  const marks = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith(PREFIX)) : [];
  const dead = marks.some((name) => !isAlive(Number(name.slice(PREFIX.length))));
  return dead ? { kind: 'crashed', detail: 'its last load ended the process; set it up again' } : null;
}

/** Runs a load under a mark, which goes when the load comes back, well or not. */
export async function underMark<T>({ root }: Pick<NativeLayout, 'root'>, load: () => Promise<T>): Promise<T> {
  const mark = join(root, `${PREFIX}${process.pid}`);
  writeFileSync(mark, '');
  try {
    return await load();
  } finally {
    rmSync(mark, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
