/** Removes checkpoints that a run no longer keeps (`save_total_limit`). */
import { removeFolder } from '../../io/remove-folder.ts';
import type { RemoteEngine } from '../../trainer/protocol/remote.ts';
import { listCheckpoints } from '../../trainer/run/checkpoint.ts';
import { dropState } from '../../trainer/tinker/drop-state.ts';
import { bestOf } from './promotion.ts';

interface Beside {
  /** Steps of the checkpoints that the history has. */
  readonly known: ReadonlySet<number>;
  /** Steps of those that it has no longer, and that nothing refers to. */
  readonly abandoned?: ReadonlySet<number>;
  /** Steps of those that other runs start from, which are kept beside the newest. */
  readonly started?: ReadonlySet<number>;
  /** By step: the checkpoint with the best score is kept among them, whatever its age, beside the newest. */
  readonly scores?: ReadonlyMap<number, number>;
  /** Where the checkpoints' states lie; those of removed ones are removed, too. */
  readonly engine?: RemoteEngine | null;
}

/**
 * Removes the oldest checkpoints up to `step`, all but `limit` of them; null keeps all. Those from before the run was
 * rewound don't count: they go once it has passed them, but stay if another run may have started from one. Called once
 * the history knows the checkpoint of `step`: a run whose host dies resumes from what the history knows, however far its
 * trainer was ahead.
 */
export async function dropOldCheckpoints(
  folder: string,
  step: number,
  limit: number | null,
  { known, abandoned = new Set(), started = new Set(), scores = new Map(), engine = null }: Beside,
): Promise<void> {
  if (limit === null) return;
  try {
    const passed = listCheckpoints(folder).filter((one) => one.step <= step);
    const past = passed.filter((one) => known.has(one.step));
    const best = bestOf(
      past.filter((checkpoint) => scores.has(checkpoint.step)),
      scores,
    );
    const isAmongNewest = best === null || past.slice(-limit).includes(best);
    const newest = isAmongNewest ? limit : Math.max(1, limit - 1);
    const beyond = past.slice(0, -newest).filter((old) => old !== best && !started.has(old.step));
    for (const old of [...passed.filter((one) => abandoned.has(one.step)), ...beyond]) {
      // What can't be removed there only takes space: the checkpoint here goes anyway.
      if (engine !== null) await dropState(old.path, engine).catch(() => undefined);
      await removeFolder(old.path);
    }
  } catch {
    // An extra checkpoint must not end a run: the next save tries again, and reports a real problem with the folder.
  }
}
