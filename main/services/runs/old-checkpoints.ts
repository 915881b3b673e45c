/** Removes checkpoints that a run no longer keeps (`save_total_limit`). */
import { rm } from 'node:fs/promises';
import { listCheckpoints } from '../../trainer/checkpoint.ts';

/**
 * Removes the oldest checkpoints up to `step`, all but `limit` of them; null keeps all. Later ones, from before the run
 * was rewound, don't count. Called once the history knows the checkpoint of `step`: a run whose host dies resumes from
 * what the history knows, however far its trainer was ahead.
 */
export async function dropOldCheckpoints(folder: string, step: number, limit: number | null): Promise<void> {
  if (limit === null) return;
  try {
    const past = listCheckpoints(folder).filter((checkpoint) => checkpoint.step <= step);
    for (const { path } of past.slice(0, -limit)) await rm(path, { recursive: true, force: true });
  } catch {
    // An extra checkpoint must not end a run: the next save tries again, and reports a real problem with the folder.
  }
}
