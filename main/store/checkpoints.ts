/** Checkpoints: where a run's weights were saved. Rows outlive their folders, because lineage needs them. */
import { columns } from './columns.ts';
import type { Db } from './open.ts';

export type CheckpointKind = 'periodic' | 'final';

export interface CheckpointRow {
  readonly id: number;
  readonly runId: number;
  readonly step: number;
  /** Relative to the workspace if it is inside. */
  readonly path: string;
  readonly kind: CheckpointKind;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

/** A checkpoint with the name of its run. */
export interface NamedCheckpointRow extends CheckpointRow {
  readonly runName: string;
}

const names = ['id', 'run_id', 'step', 'path', 'kind', 'created_at', 'deleted_at'] as const;
const fields = columns(names);

/** What choices and comparisons call it. */
export function checkpointReference(id: number): string {
  return `checkpoint:${id}`;
}

/** Statements of the table `checkpoint`. */
export function openCheckpointsTable(db: Db, now: () => number) {
  // A checkpoint reported twice is kept as it was; only "final" replaces "periodic".
  const upsert = db
    .prepare<{ runId: number; step: number; path: string; kind: CheckpointKind; at: number }, number>(
      `insert into checkpoint (run_id, step, path, kind, created_at) values (@runId, @step, @path, @kind, @at)
       on conflict (run_id, step) do update set path = excluded.path, deleted_at = null,
         kind = case when excluded.kind = 'final' then 'final' else kind end,
         created_at = case when deleted_at is null then created_at else excluded.created_at end
       returning id`,
    )
    .pluck();
  const byId = db.prepare<[number], CheckpointRow>(`select ${fields} from checkpoint where id = ?`);
  const byPath = db.prepare<[string], CheckpointRow>(
    `select ${fields} from checkpoint where path = ? order by id desc limit 1`,
  );
  const ofRun = db.prepare<[number], CheckpointRow>(`select ${fields} from checkpoint where run_id = ? order by step`);
  const all = db.prepare<[], NamedCheckpointRow>(
    `select ${columns(names, 'checkpoint')}, run.name as "runName" from checkpoint join run on run.id = checkpoint.run_id
     order by run.id desc, checkpoint.step desc`,
  );
  const markDeleted = db.prepare<[number, number]>(
    'update checkpoint set deleted_at = ? where id = ? and deleted_at is null',
  );
  const discard = db.prepare<[number, number, number]>(
    'update checkpoint set deleted_at = ? where run_id = ? and step > ? and deleted_at is null',
  );
  const unfinish = db.prepare<[number]>(`update checkpoint set kind = 'periodic' where run_id = ?`);

  return {
    /** Records a checkpoint of a run's step, or that it exists again. */
    record: (runId: number, step: number, path: string, kind: CheckpointKind): number =>
      upsert.get({ runId, step, path, kind, at: now() }) ?? 0,
    get: (id: number): CheckpointRow | undefined => byId.get(id),
    byPath: (path: string): CheckpointRow | undefined => byPath.get(path),
    /** All checkpoints of a run including deleted ones, by step. */
    ofRun: (runId: number): CheckpointRow[] => ofRun.all(runId),
    /** Those of all runs, starting with the last one of the newest run. */
    all: (): NamedCheckpointRow[] => all.all(),
    markDeleted: (id: number): void => void markDeleted.run(now(), id),
    /** Marks those beyond `step` as deleted, and none as final: the run continues. */
    discardAfter(runId: number, step: number): number {
      unfinish.run(runId);
      return discard.run(now(), runId, step).changes;
    },
  } as const;
}
