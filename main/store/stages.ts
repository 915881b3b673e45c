/** Stages of a curriculum and the queue of those waiting; both persist across restarts. */
import { columns } from './columns.ts';
import { storedJson, storedObject } from './json.ts';
import type { Db } from './open.ts';
import { QUEUED_LAST } from './queue.ts';

/** `unmet`: its steps are done but its promotion rule is not met. */
export type StageState = 'planned' | 'queued' | 'running' | 'done' | 'unmet' | 'failed' | 'cancelled';

export interface NewStage {
  readonly name: string;
  /** null while it has no dataset. */
  readonly datasetId: number | null;
  /** Its position in the curriculum. */
  readonly position: number;
  readonly words: number | null;
  readonly steps: number;
  /** When to promote to the next stage; null: when the steps are done. */
  readonly promotion: unknown;
  /** Settings of the next run, as the user chose them. */
  readonly config: Readonly<Record<string, unknown>>;
}

export interface StageRow extends NewStage {
  readonly id: number;
  readonly state: StageState;
  readonly reason: string | null;
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Held-out score with which it counts as met without training; null: it was trained, or isn't done. */
  readonly metScore: number | null;
}

type RawStage = Omit<StageRow, 'promotion' | 'config'> & { promotionJson: string | null; configJson: string };
type Written = Pick<RawStage, 'name' | 'datasetId' | 'position' | 'words' | 'steps' | 'promotionJson' | 'configJson'>;

const names = [
  'id',
  'name',
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
  'met_score',
] as const;
const fields = columns(names);

function parse({ promotionJson, configJson, ...rest }: RawStage): StageRow {
  return {
    ...rest,
    promotion: promotionJson === null ? null : storedJson(promotionJson, `the rule of stage ${rest.id}`),
    config: storedObject(configJson, `the settings of stage ${rest.id}`),
  };
}

function write({ promotion, config, ...rest }: NewStage): Written {
  return {
    ...rest,
    promotionJson: promotion === null || promotion === undefined ? null : JSON.stringify(promotion),
    configJson: JSON.stringify(config),
  };
}

/** Statements of the table `stage`. */
export function openStagesTable(db: Db, now: () => number) {
  const insert = db.prepare<Written>(
    `insert into stage (name, dataset_id, position, words, steps, promotion_json, config_json, state)
     values (@name, @datasetId, @position, @words, @steps, @promotionJson, @configJson, 'planned')`,
  );
  const update = db.prepare<Written & { id: number }>(
    `update stage set name = @name, dataset_id = @datasetId, position = @position, words = @words, steps = @steps,
       promotion_json = @promotionJson, config_json = @configJson where id = @id`,
  );
  const byId = db.prepare<[number], RawStage>(`select ${fields} from stage where id = ?`);
  const all = db.prepare<[], RawStage>(`select ${fields} from stage order by position, id`);
  const queue = db.prepare<[], RawStage>(
    `select ${fields} from stage where state = 'queued' order by queued_at, position, id`,
  );
  const setState = db.prepare<{
    id: number;
    state: StageState;
    reason: string | null;
    at: number;
    metScore: number | null;
  }>(
    `update stage set state = @state, reason = @reason, met_score = @metScore,
       queued_at = case when @state = 'queued' then ${QUEUED_LAST} when @state = 'planned' then null else queued_at end,
       started_at = case when @state = 'running' then @at else started_at end,
       ended_at = case when @state in ('done', 'unmet', 'failed', 'cancelled') then @at else null end
     where id = @id`,
  );
  const queueAt = db.prepare<[number, number]>("update stage set queued_at = ? where id = ? and state = 'queued'");
  const remove = db.prepare<[number]>('delete from stage where id = ?');
  const read = (row: RawStage | undefined): StageRow | undefined => (row === undefined ? undefined : parse(row));

  return {
    /** Adds a stage to the curriculum, in state "planned". */
    add: (stage: NewStage): number => Number(insert.run(write(stage)).lastInsertRowid),
    change: (id: number, stage: NewStage): boolean => update.run({ ...write(stage), id }).changes === 1,
    get: (id: number): StageRow | undefined => read(byId.get(id)),
    /** In the order of the curriculum. */
    list: (): StageRow[] => all.all().map(parse),
    /** The waiting stages, next one first. */
    queue: (): StageRow[] => queue.all().map(parse),
    /** Puts the waiting stages in this order; those that are not named come after. */
    reorder(ids: readonly number[]): void {
      const waiting = queue.all();
      const first = Math.min(...waiting.map(({ queuedAt }) => queuedAt ?? 0));
      const named = ids.filter((id) => waiting.some((stage) => stage.id === id));
      const rest = waiting.flatMap(({ id }) => (named.includes(id) ? [] : [id]));
      for (const [place, id] of [...named, ...rest].entries()) queueAt.run(first + place, id);
    },
    setState: (id: number, state: StageState, reason: string | null = null): boolean =>
      setState.run({ id, state, reason, at: now(), metScore: null }).changes === 1,
    /** It is done without training. */
    countAsMet: (id: number, metScore: number, reason: string): boolean =>
      setState.run({ id, state: 'done', reason, at: now(), metScore }).changes === 1,
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
