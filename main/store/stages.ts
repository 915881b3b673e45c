/** Stages of a curriculum, and the queue of those that wait: it outlives the app. */
import { columns } from './columns.ts';
import type { Db } from './open.ts';

export type StageState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

export interface NewStage {
  readonly datasetId: number;
  /** Its place in the curriculum and in the queue. */
  readonly position: number;
  readonly words: number | null;
  readonly steps: number;
  /** When to go on to the next stage; null: when the steps are done. */
  readonly promotion: unknown;
  /** Settings of the run to come, as the person chose them. */
  readonly config: Readonly<Record<string, unknown>>;
}

export interface StageRow extends NewStage {
  readonly id: number;
  readonly state: StageState;
  readonly reason: string | null;
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

type RawStage = Omit<StageRow, 'promotion' | 'config'> & { promotionJson: string | null; configJson: string };

const fields = columns([
  'id',
  'dataset_id',
  'position',
  'words',
  'steps',
  'promotion_json',
  'config_json',
  'state',
  'reason',
  'queued_at',
  'started_at',
  'ended_at',
]);

function parse({ promotionJson, configJson, ...rest }: RawStage): StageRow {
  return {
    ...rest,
    promotion: promotionJson === null ? null : (JSON.parse(promotionJson) as unknown),
    config: JSON.parse(configJson) as Record<string, unknown>,
  };
}

/** Statements of the table `stage`. */
export function openStagesTable(db: Db, now: () => number) {
  const insert = db.prepare<[number, number, number | null, number, string | null, string, number]>(
    `insert into stage (dataset_id, position, words, steps, promotion_json, config_json, state, queued_at)
     values (?, ?, ?, ?, ?, ?, 'queued', ?)`,
  );
  const byId = db.prepare<[number], RawStage>(`select ${fields} from stage where id = ?`);
  const all = db.prepare<[], RawStage>(`select ${fields} from stage order by position, id`);
  const next = db.prepare<[], RawStage>(
    `select ${fields} from stage where state = 'queued' order by position, id limit 1`,
  );
  const setState = db.prepare<{ id: number; state: StageState; reason: string | null; at: number }>(
    `update stage set state = @state, reason = @reason,
       started_at = case when @state = 'running' then @at else started_at end,
       ended_at = case when @state in ('done', 'failed', 'cancelled') then @at else null end
     where id = @id`,
  );
  const move = db.prepare<[number, number]>('update stage set position = ? where id = ?');

  return {
    /** Puts a stage into the queue. */
    queue(stage: NewStage): number {
      const promotion = stage.promotion === null ? null : JSON.stringify(stage.promotion);
      const config = JSON.stringify(stage.config);
      const { datasetId, position, words, steps } = stage;
      return Number(insert.run(datasetId, position, words, steps, promotion, config, now()).lastInsertRowid);
    },
    get(id: number): StageRow | undefined {
      const row = byId.get(id);
      return row === undefined ? undefined : parse(row);
    },
    list: (): StageRow[] => all.all().map(parse),
    /** The stage that the queue would start now. */
    next(): StageRow | undefined {
      const row = next.get();
      return row === undefined ? undefined : parse(row);
    },
    setState: (id: number, state: StageState, reason: string | null = null): boolean =>
      setState.run({ id, state, reason, at: now() }).changes === 1,
    move: (id: number, position: number): boolean => move.run(position, id).changes === 1,
  } as const;
}

export type StagesTable = ReturnType<typeof openStagesTable>;
