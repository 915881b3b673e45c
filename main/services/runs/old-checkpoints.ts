/** Removes checkpoints that a run no longer keeps (`save_total_limit`). */
import { rm } from 'node:fs/promises';
import { listCheckpoints } from '../../trainer/checkpoint.ts';
import { dropState } from '../../trainer/engine/tinker/drop-state.ts';
import type { RemoteEngine } from '../../trainer/engine/tinker/remote.ts';

interface Beside {
  /** By step: the checkpoint with the best score is kept among them, whatever its age, beside the newest. */
  readonly scores?: ReadonlyMap<number, number>;
  /** Where the checkpoints' states lie; those of removed ones are removed, too. */
  readonly engine?: RemoteEngine | null;
}

/**
 * Removes the oldest checkpoints up to `step`, all but `limit` of them; null keeps all. Later ones, from before the run
 * was rewound, don't count. Called once the history knows the checkpoint of `step`: a run whose host dies resumes from
 * what the history knows, however far its trainer was ahead.
 */
export async function dropOldCheckpoints(
  folder: string,
  step: number,
  limit: number | null,
  { scores = new Map(), engine = null }: Beside = {},
): Promise<void> {
  if (limit === null) return;
  try {
    const past = listCheckpoints(folder).filter((checkpoint) => checkpoint.step <= step);
    const best = bestStep(
      past.map((checkpoint) => checkpoint.step),
      scores,
    );
    const isAmongNewest = best === null || past.slice(-limit).some((checkpoint) => checkpoint.step === best);
    const newest = isAmongNewest ? limit : Math.max(1, limit - 1);
    for (const { step, path } of past.slice(0, -newest)) {
      if (step === best) continue;
      // What can't be removed there only takes space: the checkpoint here goes anyway.
      if (engine !== null) await dropState(path, engine).catch(() => undefined);
      await rm(path, { recursive: true, force: true });
    }
  } catch {
    // An extra checkpoint must not end a run: the next save tries again, and reports a real problem with the folder.
  }
}

/** The later one of equals; null without any score. */
function bestStep(steps: readonly number[], scores: ReadonlyMap<number, number>): number | null {
  const scored = steps.map((step) => ({ step, score: scores.get(step) }));
  return (
    scored.reduce<{ readonly step: number; readonly score: number } | null>(
      (best, { step, score }) => (score !== undefined && score >= (best?.score ?? score) ? { step, score } : best),
      null,
    )?.step ?? null
  );
}
