/** Sweeps and their trials: one row a sweep with its plan, one a setting and seed with the run that tries it. */
import { columns } from './columns.ts';
import { storedObject } from './json.ts';
import type { Db } from './open.ts';
import { QUEUED_LAST } from './queue.ts';
import type { RunHost } from './runs.ts';

/** `queued` and `running` ones advance by the queue, or by the command that owns them. */
export type SweepState = 'queued' | 'running' | 'paused' | 'done' | 'cancelled';

/** `reached`: at the end of a rung, until the others are. `eliminated`: a loser of a rung. */
export type TrialState =
  | 'waiting'
  | 'running'
  | 'reached'
  | 'done'
  | 'collapsed'
  | 'eliminated'
  | 'failed'
  | 'cancelled';

export interface SweepRow {
  readonly id: number;
  readonly name: string;
  readonly plan: Readonly<Record<string, unknown>>;
  readonly state: SweepState;
  readonly reason: string | null;
  /** Its place in the queue; null: not in it. */
  readonly queuedAt: number | null;
  /** The command that runs it outside the queue. */
  readonly pid: number | null;
  readonly hostId: string | null;
  readonly heartbeatAt: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface NewTrial {
  /** Index of its settings in the plan. */
  readonly setting: number;
  readonly seed: number;
  /** Of its run. */
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Position of the trial whose newest checkpoint it starts from; null: as its settings say. */
  readonly after: number | null;
}

export interface TrialRow extends Omit<NewTrial, 'after'> {
  readonly id: number;
  readonly sweepId: number;
  readonly position: number;
  readonly afterId: number | null;
  readonly runId: number | null;
  readonly state: TrialState;
  /** Rung of successive halving, from 0. */
  readonly rung: number;
  /** Starts of its run in a row that the app or its trainer did not survive, with the current one. */
  readonly attempts: number;
  readonly reason: string | null;
}

type RawSweep = Omit<SweepRow, 'plan'> & { readonly planJson: string };
type RawTrial = Omit<TrialRow, 'config'> & { readonly configJson: string };

const sweepFields = columns([
  ...['id', 'name', 'plan_json', 'state', 'reason', 'queued_at', 'pid', 'host_id', 'heartbeat_at'],
  ...['created_at', 'started_at', 'ended_at'],
]);
const trialFields = columns([
  ...['id', 'sweep_id', 'position', 'setting', 'seed', 'name', 'config_json', 'after_id', 'run_id', 'state'],
  ...['rung', 'attempts', 'reason'],
]);

function parseSweep({ planJson, ...rest }: RawSweep): SweepRow {
  return { ...rest, plan: storedObject(planJson, `the plan of sweep ${rest.id}`) };
}

function parseTrial({ configJson, ...rest }: RawTrial): TrialRow {
  return { ...rest, config: storedObject(configJson, `the settings of trial ${rest.id}`) };
}

/** Statements of the tables `sweep` and `sweep_trial`. */
export function openSweepsTable(db: Db, now: () => number) {
  const insert = db.prepare<{ name: string; planJson: string; at: number }>(
    "insert into sweep (name, plan_json, state, created_at) values (@name, @planJson, 'paused', @at)",
  );
  const insertTrial = db.prepare<
    Omit<NewTrial, 'config' | 'after'> & {
      sweepId: number;
      position: number;
      configJson: string;
      afterId: number | null;
    }
  >(
    `insert into sweep_trial (sweep_id, position, setting, seed, name, config_json, after_id, state)
     values (@sweepId, @position, @setting, @seed, @name, @configJson, @afterId, 'waiting')`,
  );
  const byId = db.prepare<[number], RawSweep>(`select ${sweepFields} from sweep where id = ?`);
  const all = db.prepare<{ state: SweepState | null }, RawSweep>(
    `select ${sweepFields} from sweep where @state is null or state = @state order by id desc`,
  );
  const trials = db.prepare<[number], RawTrial>(
    `select ${trialFields} from sweep_trial where sweep_id = ? order by position`,
  );
  const runningTrials = db.prepare<[], RawTrial>(
    `select ${trialFields} from sweep_trial where state = 'running' order by id`,
  );
  const trialOfRun = db.prepare<[number], RawTrial>(
    `select ${trialFields} from sweep_trial where run_id = ? order by id desc limit 1`,
  );
  const setState = db.prepare<{ id: number; state: SweepState; reason: string | null; at: number }>(
    `update sweep set state = @state, reason = @reason,
       queued_at = case when @state in ('queued', 'running') then queued_at else null end,
       started_at = case when @state = 'running' then coalesce(started_at, @at) else started_at end,
       ended_at = case when @state in ('done', 'cancelled') then @at else null end,
       pid = case when @state = 'running' then pid else null end,
       host_id = case when @state = 'running' then host_id else null end
     where id = @id`,
  );
  const queue = db.prepare<{ id: number; at: number }>(
    `update sweep set state = 'queued', reason = null, queued_at = ${QUEUED_LAST}, pid = null, host_id = null
     where id = @id`,
  );
  const claim = db.prepare<RunHost & { id: number; at: number }>(
    `update sweep set state = 'running', reason = null, queued_at = null, pid = @pid, host_id = @hostId,
       heartbeat_at = @at, started_at = coalesce(started_at, @at), ended_at = null where id = @id`,
  );
  const beat = db.prepare<[number, number]>('update sweep set heartbeat_at = ? where id = ?');
  const rename = db.prepare<[string, number]>('update sweep set name = ? where id = ?');
  const remove = db.prepare<[number]>('delete from sweep where id = ?');
  const changeTrial = db.prepare<
    Pick<TrialRow, 'id' | 'rung' | 'attempts'> & { state: TrialState; reason: string | null }
  >('update sweep_trial set state = @state, reason = @reason, rung = @rung, attempts = @attempts where id = @id');
  const startTrial = db.prepare<[number, number]>(
    "update sweep_trial set run_id = ?, state = 'running', reason = null, attempts = attempts + 1 where id = ?",
  );
  const read = (row: RawSweep | undefined): SweepRow | undefined => (row === undefined ? undefined : parseSweep(row));

  return {
    /** A new sweep, paused until it is queued or claimed, with its trials in order. */
    add(name: string, plan: object, list: readonly NewTrial[]): number {
      const sweepId = Number(insert.run({ name, planJson: JSON.stringify(plan), at: now() }).lastInsertRowid);
      const ids: number[] = [];
      for (const [position, { config, after, ...trial }] of list.entries()) {
        const afterId = after === null ? null : (ids[after] ?? null);
        const row = { ...trial, sweepId, position, afterId, configJson: JSON.stringify(config) };
        ids.push(Number(insertTrial.run(row).lastInsertRowid));
      }
      return sweepId;
    },
    get: (id: number): SweepRow | undefined => read(byId.get(id)),
    /** Newest first. */
    list: (state: SweepState | null = null): SweepRow[] => all.all({ state }).map(parseSweep),
    trials: (sweepId: number): TrialRow[] => trials.all(sweepId).map(parseTrial),
    /** Of all sweeps. */
    runningTrials: (): TrialRow[] => runningTrials.all().map(parseTrial),
    /** The trial that a run belongs to. */
    trialOfRun(runId: number): TrialRow | undefined {
      const row = trialOfRun.get(runId);
      return row === undefined ? undefined : parseTrial(row);
    },
    /** Any state but `queued` and `running` takes it out of the queue. */
    setState: (id: number, state: SweepState, reason: string | null = null): void =>
      void setState.run({ id, state, reason, at: now() }),
    /** Puts it at the end of the queue. */
    enqueue: (id: number): void => void queue.run({ id, at: now() }),
    /** Assigns it to a process outside the queue. */
    claim: (id: number, host: RunHost): void => void claim.run({ ...host, id, at: now() }),
    beat: (id: number): void => void beat.run(now(), id),
    rename: (id: number, name: string): void => void rename.run(name, id),
    remove: (id: number): boolean => remove.run(id).changes === 1,
    setTrial: (
      { id, rung, attempts }: Pick<TrialRow, 'id' | 'rung' | 'attempts'>,
      state: TrialState,
      reason: string | null = null,
    ): void => void changeTrial.run({ id, state, reason, rung, attempts }),
    /** Its run was started or resumed. */
    startTrial: (id: number, runId: number): void => void startTrial.run(runId, id),
  } as const;
}
