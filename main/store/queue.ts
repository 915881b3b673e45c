/** The one queue: stages, runs outside the curriculum and sweeps, in one order; each kind keeps its own place in it. */
import { storedObject } from './json.ts';
import type { Db } from './open.ts';

export type QueueKind = 'stage' | 'run' | 'sweep';

/** What waits: the id is that of the stage, the queued run or the sweep. */
export interface QueueKey {
  readonly kind: QueueKind;
  readonly id: number;
}

export interface QueuePlace extends QueueKey {
  readonly name: string | null;
  readonly queuedAt: number;
  /** Why it could not be started; null: it waits. */
  readonly reason: string | null;
}

export interface QueuedRun {
  readonly id: number;
  /** null: named after its folder. */
  readonly name: string | null;
  /** The whole configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly queuedAt: number;
  readonly reason: string | null;
}

type RawRun = Omit<QueuedRun, 'config'> & { readonly configJson: string };

const union = `
  select 'stage' as kind, id, name, queued_at as "queuedAt", null as reason, position from stage
    where state = 'queued' and queued_at is not null
  union all select 'run', id, name, queued_at, reason, 0 from queued_run
  union all select 'sweep', id, name, queued_at, null, 0 from sweep where queued_at is not null`;

/** The time of what is queued at the time `@at`: after all that waits, although the clock may have been set back since. */
export const QUEUED_LAST = `max(@at, 1 + coalesce((select max("queuedAt") from (${union})), 0))`;

/** Statements of the queue. */
export function openQueueTable(db: Db, now: () => number) {
  const all = db.prepare<[], QueuePlace>(
    `select kind, id, name, "queuedAt", reason from (${union}) order by "queuedAt", position, id`,
  );
  const insert = db.prepare<{ name: string | null; configJson: string; at: number }>(
    `insert into queued_run (name, config_json, queued_at) values (@name, @configJson, ${QUEUED_LAST})`,
  );
  const byId = db.prepare<[number], RawRun>(
    'select id, name, config_json as "configJson", queued_at as "queuedAt", reason from queued_run where id = ?',
  );
  const remove = db.prepare<[number]>('delete from queued_run where id = ?');
  const setReason = db.prepare<[string | null, number]>('update queued_run set reason = ? where id = ?');
  const moves = {
    stage: db.prepare<[number, number]>("update stage set queued_at = ? where id = ? and state = 'queued'"),
    run: db.prepare<[number, number]>('update queued_run set queued_at = ? where id = ?'),
    sweep: db.prepare<[number, number]>('update sweep set queued_at = ? where id = ? and queued_at is not null'),
  } as const;

  return {
    /** Everything that waits, next one first. */
    list: (): QueuePlace[] => all.all(),
    /** Puts the waiting in this order; those that are not named come after. */
    reorder(keys: readonly QueueKey[]): void {
      const waiting = all.all();
      const first = Math.min(...waiting.map(({ queuedAt }) => queuedAt));
      const same = (a: QueueKey, b: QueueKey): boolean => a.kind === b.kind && a.id === b.id;
      const named = keys.filter((key) => waiting.some((place) => same(place, key)));
      const rest = waiting.filter((place) => !named.some((key) => same(key, place)));
      for (const [place, { kind, id }] of [...named, ...rest].entries()) moves[kind].run(first + place, id);
    },
    addRun: (name: string | null, config: Readonly<Record<string, unknown>>): number =>
      Number(insert.run({ name, configJson: JSON.stringify(config), at: now() }).lastInsertRowid),
    getRun(id: number): QueuedRun | undefined {
      const row = byId.get(id);
      if (row === undefined) return undefined;
      const { configJson, ...rest } = row;
      return { ...rest, config: storedObject(configJson, `the settings of queued run ${id}`) };
    },
    /** Why it could not be started; null clears it. */
    setReason: (id: number, reason: string | null): void => void setReason.run(reason, id),
    removeRun: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
