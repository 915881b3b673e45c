/** Runs: one training of one stage each, with its whole configuration and state. */
import { columns } from './columns.ts';
import type { Db } from './open.ts';

/** As the tasks have it, whom the store doesn't know. */
export type TaskShow = 'aligned' | 'beside' | 'plain' | 'json' | 'code';

export type RunState = 'running' | 'paused' | 'interrupted' | 'done' | 'failed' | 'stopped' | 'collapsed';

/** The process that owns a run while it is alive. */
export interface RunHost {
  readonly pid: number;
  readonly hostId: string;
}

export interface NewRun {
  readonly name: string;
  readonly method: string;
  /** Its name. */
  readonly task: string;
  /** Of the task's text, if it is a folder's. */
  readonly taskHash: string | null;
  /** How its completions are shown; the task's `show`. */
  readonly taskShow: TaskShow;
  /** Components of its reward outside the sandbox, as a JSON array; by default none. */
  readonly externalJson?: string;
  readonly stageId: number | null;
  readonly dataset: string;
  readonly model: string;
  /** The whole configuration, as JSON. */
  readonly configJson: string;
  readonly parentRunId: number | null;
  readonly parentCheckpointId: number | null;
  readonly maxSteps: number;
}

export interface RunRow extends NewRun {
  readonly externalJson: string;
  readonly id: number;
  /** The name it was started with. `baseline/seed_42` stays a baseline, whatever the run is called later. */
  readonly role: string;
  readonly state: RunState;
  readonly reason: string | null;
  /** Relative to the workspace. */
  readonly folder: string;
  readonly backend: string | null;
  readonly step: number;
  readonly baselineScore: number | null;
  /** What the user wrote about it. */
  readonly notes: string;
  /** The user's tags, as a JSON array. */
  readonly tagsJson: string;
  readonly pid: number | null;
  readonly hostId: string | null;
  readonly heartbeatAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly createdAt: number;
}

export interface RunFilter {
  readonly states?: readonly RunState[] | undefined;
  readonly stageId?: number | undefined;
  readonly limit?: number | undefined;
  /** Only runs older than this id: the next page. */
  readonly before?: number | undefined;
}

/** A run in a lineage: its distance from the given one, and the checkpoint it started from. */
export interface LineageRow extends RunRow {
  readonly depth: number;
  readonly fromStep: number | null;
  readonly fromPath: string | null;
}

const names = [
  'id',
  'name',
  'role',
  'state',
  'reason',
  'method',
  'task',
  'task_hash',
  'task_show',
  'external_json',
  'stage_id',
  'dataset',
  'model',
  'config_json',
  'folder',
  'backend',
  'parent_run_id',
  'parent_checkpoint_id',
  'step',
  'max_steps',
  'baseline_score',
  'notes',
  'tags_json',
  'pid',
  'host_id',
  'heartbeat_at',
  'started_at',
  'ended_at',
  'created_at',
] as const;

const lineageTail = `select ${columns(names, 'run')}, line.depth, c.step as "fromStep", c.path as "fromPath"
  from line join run on run.id = line.id left join checkpoint c on c.id = run.parent_checkpoint_id
  where line.depth > 0`;

const ancestorsSql = `with recursive line(id, depth) as (
    select ?, 0
    union all select run.parent_run_id, line.depth + 1 from line join run on run.id = line.id
      where run.parent_run_id is not null and line.depth < 1000
  ) ${lineageTail} order by line.depth desc`;

const descendantsSql = `with recursive line(id, depth) as (
    select ?, 0
    union all select run.id, line.depth + 1 from line join run on run.parent_run_id = line.id where line.depth < 1000
  ) ${lineageTail} order by line.depth, run.id`;

/** Statements of the table `run`. */
export function openRunsTable(db: Db, now: () => number) {
  const insert = db.prepare<NewRun & RunHost & { at: number }>(
    `insert into run (name, role, state, method, task, task_hash, task_show, external_json, stage_id, dataset, model, config_json,
       folder, parent_run_id, parent_checkpoint_id, max_steps, pid, host_id, heartbeat_at, started_at, created_at)
     values (@name, @name, 'running', @method, @task, @taskHash, @taskShow, @externalJson, @stageId, @dataset, @model, @configJson,
       '', @parentRunId, @parentCheckpointId, @maxSteps, @pid, @hostId, @at, @at, @at)`,
  );
  const place = db.prepare<[string, string, string, number]>(
    'update run set name = ?, role = ?, folder = ? where id = ?',
  );
  const byId = db.prepare<[number], RunRow>(`select ${columns(names)} from run where id = ?`);
  const list = db.prepare<
    { states: string | null; stageId: number | null; before: number | null; limit: number },
    RunRow
  >(
    `select ${columns(names)} from run
     where (@states is null or state in (select value from json_each(@states))) and (@before is null or id < @before)
       and (@stageId is null or stage_id = @stageId)
     order by id desc limit @limit`,
  );
  const ofStage = db.prepare<[number], RunRow>(
    `select ${columns(names)} from run where stage_id = ? order by coalesce(heartbeat_at, 0) desc, id desc`,
  );
  const countByDataset = db.prepare<[], { dataset: string; count: number }>(
    'select dataset, count(*) as count from run group by dataset',
  );
  const setState = db.prepare<{ id: number; state: RunState; reason: string | null; endedAt: number | null }>(
    'update run set state = @state, reason = @reason, ended_at = @endedAt where id = @id',
  );
  const advance = db.prepare<[number, number, number]>(
    'update run set step = max(step, ?), heartbeat_at = ? where id = ?',
  );
  const rewind = db.prepare<[number, number]>('update run set step = min(step, ?) where id = ?');
  const claim = db.prepare<RunHost & { id: number; at: number }>(
    `update run set state = 'running', reason = null, ended_at = null, pid = @pid, host_id = @hostId,
       heartbeat_at = @at where id = @id`,
  );
  const beat = db.prepare<[number, number]>('update run set heartbeat_at = ? where id = ?');
  const setBackend = db.prepare<[string, number]>('update run set backend = ? where id = ?');
  const setBaseline = db.prepare<[number, number]>('update run set baseline_score = ? where id = ?');
  const setMaxSteps = db.prepare<[number, string, number]>(
    'update run set max_steps = ?, config_json = ? where id = ?',
  );
  const rename = db.prepare<[string, number]>('update run set name = ? where id = ?');
  const annotate = db.prepare<[string, string, number]>('update run set notes = ?, tags_json = ? where id = ?');
  const remove = db.prepare<[number]>('delete from run where id = ?');
  const ancestors = db.prepare<[number], LineageRow>(ancestorsSql);
  const descendants = db.prepare<[number], LineageRow>(descendantsSql);

  return {
    /** A new run in state "running"; `place` gives it its name, role and folder once its id is known. */
    insert: (run: NewRun, host: RunHost): number =>
      Number(insert.run({ externalJson: '[]', ...run, ...host, at: now() }).lastInsertRowid),
    place: (id: number, name: string, folder: string): void => void place.run(name, name, folder, id),
    get: (id: number): RunRow | undefined => byId.get(id),
    /** Newest first. */
    list(filter: RunFilter = {}): RunRow[] {
      const states = filter.states === undefined ? null : JSON.stringify(filter.states);
      const { stageId = null, before = null, limit = -1 } = filter;
      return list.all({ states, stageId, before, limit });
    },
    /** A stage's runs, the one that trained last first: not always the newest, as an earlier one can be resumed. */
    ofStage: (stageId: number): RunRow[] => ofStage.all(stageId),
    /** How many runs there are on each dataset. */
    countByDataset: (): { dataset: string; count: number }[] => countByDataset.all(),
    setState(id: number, state: RunState, reason: string | null): void {
      const over = state !== 'running' && state !== 'paused';
      setState.run({ id, state, reason, endedAt: over ? now() : null });
    },
    /** Moves the run's step forward (never back) and updates its heartbeat. */
    advance: (id: number, step: number): void => void advance.run(step, now(), id),
    rewind: (id: number, step: number): void => void rewind.run(step, id),
    /** Assigns the run to a host process again, in state "running". */
    claim: (id: number, host: RunHost): void => void claim.run({ ...host, id, at: now() }),
    beat: (id: number): void => void beat.run(now(), id),
    setBackend: (id: number, backend: string): void => void setBackend.run(backend, id),
    setBaseline: (id: number, score: number): void => void setBaseline.run(score, id),
    setMaxSteps: (id: number, maxSteps: number, configJson: string): void =>
      void setMaxSteps.run(maxSteps, configJson, id),
    rename: (id: number, name: string): void => void rename.run(name, id),
    annotate: (id: number, notes: string, tags: readonly string[]): void =>
      void annotate.run(notes, JSON.stringify(tags), id),
    remove: (id: number): boolean => remove.run(id).changes === 1,
    /** The runs that this one descends from, oldest first. */
    ancestors: (id: number): LineageRow[] => ancestors.all(id),
    /** The runs that started from this one's checkpoints, and their descendants, nearest first. */
    descendants: (id: number): LineageRow[] => descendants.all(id),
  } as const;
}
