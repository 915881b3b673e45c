/** Removes checkpoints that a run no longer keeps (`save_total_limit`). */
import { rm } from 'node:fs/promises';
import { listCheckpoints } from '../../trainer/checkpoint.ts';
import { dropState } from '../../trainer/engine/tinker/drop-state.ts';
import type { RemoteEngine } from '../../trainer/engine/tinker/remote.ts';

/**
 * Removes the oldest checkpoints up to `step`, all but `limit` of them; null keeps all. Later ones, from before the run
 * was rewound, don't count. Called once the history knows the checkpoint of `step`: a run whose host dies resumes from
 * what the history knows, however far its trainer was ahead. With them go their states on `engine`.
 */
export async function dropOldCheckpoints(
  folder: string,
  step: number,
  limit: number | null,
  engine: RemoteEngine | null = null,
): Promise<void> {
  if (limit === null) return;
  try {
    const past = listCheckpoints(folder).filter((checkpoint) => checkpoint.step <= step);
    for (const { path } of past.slice(0, -limit)) {
      // What can't be removed there only takes space: the checkpoint here goes anyway.
      if (engine !== null) await dropState(path, engine).catch(() => undefined);
      await rm(path, { recursive: true, force: true });
    }
  } catch {
    // An extra checkpoint must not end a run: the next save tries again, and reports a real problem with the folder.
  }
}
