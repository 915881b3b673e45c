/**
 * Where no process can be started just to try the addon (a packaged Electron app is no Node for others), the first
 * load is the trial: a mark stands beside the set-up while it lasts. One that a dead process left says that the load
 * ended that process, or that it was killed meanwhile: by a cancelled run, a reload of the page, a power cut.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processExists } from '../io/process-exists.ts';
import type { NativeLayout } from './folder.ts';
import type { NativeProblem } from './problems.ts';

const PREFIX = 'loading-';
/** A load takes a second or two, so one kill may fall into it; a set-up that ends its process does so each time. */
const BELIEVED = 2;

/** Whether loads of this set-up end their process. */
export function crashedBefore(layout: Pick<NativeLayout, 'root'>): NativeProblem | null {
  if (deadMarks(layout).length < BELIEVED) return null;
  return { kind: 'crashed', detail: `its last ${BELIEVED} loads ended their process; set it up again` };
}

/** Runs a load under a mark. When it comes back, well or not, its mark and those of dead processes are deleted. */
export async function underMark<T>(layout: Pick<NativeLayout, 'root'>, load: () => Promise<T>): Promise<T> {
  // With the time: a later process may get the same number, and in a container usually does.
  const mark = join(layout.root, `${PREFIX}${process.pid}-${Date.now()}`);
  writeFileSync(mark, '');
  try {
    return await load();
  } finally {
    for (const file of [mark, ...deadMarks(layout)]) rmSync(file, { force: true });
  }
}

/** A process loads once at a time: outside its load, a mark with its number is an earlier process's. */
function deadMarks({ root }: Pick<NativeLayout, 'root'>): readonly string[] {
  const marks = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith(PREFIX)) : [];
  const dead = marks.filter((name) => !isAlive(Number.parseInt(name.slice(PREFIX.length), 10)));
  return dead.map((name) => join(root, name));
}

function isAlive(pid: number): boolean {
  return pid !== process.pid && processExists(pid);
}
