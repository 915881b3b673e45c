/** The newest intact checkpoint of a run, to resume from. */
import type { Store } from '../../store/index.ts';
import { damageOf } from '../../trainer/memory/model-folder.ts';
import { refreshCheckpoints } from './history.ts';

export interface WholeCheckpoint {
  /** Null if none is intact. */
  readonly checkpointId: number | null;
  /** Newer, damaged ones, newest first. */
  readonly damaged: readonly { readonly step: number; readonly file: string; readonly reason: string }[];
}

/** Reads the checkpoints of a run, newest first, until one is intact; yields to other work. */
export async function wholeCheckpoint(store: Store, runId: number, signal?: AbortSignal): Promise<WholeCheckpoint> {
  const there = refreshCheckpoints(store, runId).filter(({ deletedAt }) => deletedAt === null);
  const damaged: WholeCheckpoint['damaged'][number][] = [];
  for (const { id, step, path } of there.reverse()) {
    const damage = await damageOf(path, signal);
    if (damage === null) return { checkpointId: id, damaged };
    damaged.push({ step, ...damage });
  }
  return { checkpointId: null, damaged };
}
