/** The servers that were started from here: start, stop, what is known of them. They outlive the app. */
import { BraidError, inputError } from '../../errors.ts';
import { formatDuration } from '../../text/format.ts';
import { engineAddress } from '../../trainer/tinker/address.ts';
import { neverSent } from '../../trainer/tinker/http.ts';
import type { EngineEntry } from '../engines/engines.ts';
import { launcherWords, portOfServer, type ServerLauncher } from '../engines/server-launcher.ts';
import { mayBeUp, type ServerRecord, type ServerRecords } from '../engines/server-records.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { logFault } from '../workspace/stray-faults.ts';
import type { Looked } from './kind.ts';
import { begin, log, look, plan, stop } from './kinds.ts';

/** A server as a page sees it. */
export interface ServerStatus extends Omit<ServerRecord, 'handle' | 'allowPlain'> {
  readonly kind: ServerLauncher['kind'];
  /** Whether it may be running, and may cost. */
  readonly mayBeUp: boolean;
  /** When it was last in use. */
  readonly usedAt: number;
}

export interface Servers {
  readonly records: ServerRecords;
  /** Starts an engine's server; returns before it answers. Throws if it may be up already. */
  up(engine: EngineEntry): Promise<ServerStatus>;
  /** Ends a server; one that has ended stays as it is. */
  down(engine: string): Promise<ServerStatus>;
  /** Looks at a server; null: it was never started from here. */
  status(engine: string): Promise<ServerStatus | null>;
  /** All, as they were last seen. */
  list(): readonly ServerStatus[];
  /** Looks at all that may be up, and ends those that nobody uses. Returns what has changed. */
  refresh(): Promise<readonly ServerStatus[]>;
  /** The end of what it printed. */
  log(engine: string): Promise<string>;
  /** Gives up on a server that nobody can be asked about. */
  forget(engine: string): ServerStatus;
  /** Whether an engine that can be started from here has to be: nothing answers at its address. */
  isMissing(engine: EngineEntry): Promise<boolean>;
}

export interface ServersOptions {
  readonly records: ServerRecords;
  readonly secrets: Pick<Secrets, 'get'>;
  readonly now?: () => number;
}

export function openServers({ records, secrets, now = Date.now }: ServersOptions): Servers {
  const context = { records, secrets };
  const inTurn = openTurns();

  /** Looks at it, and writes down what has changed. */
  async function see(record: ServerRecord): Promise<ServerRecord> {
    if (!mayBeUp(record) && !mayArriveLate(record)) return record;
    const looked = await look(record, context);
    const answers = looked.state === 'starting' && (await answersAt(record));
    const seen = { ...record, ...judged(record, looked, answers) };
    const answeredAt = record.answeredAt ?? (answers ? now() : null);
    // Another process may have stopped it meanwhile, or started another: that one's record stands.
    const current = records.read(record.engine);
    if (JSON.stringify(current) !== JSON.stringify(record)) return current ?? record;
    return keep(record, { ...seen, answeredAt, endedAt: mayBeUp(seen) ? null : now() });
  }

  function keep(before: ServerRecord, after: ServerRecord): ServerRecord {
    if (JSON.stringify(before) !== JSON.stringify(after)) records.write(after);
    return after;
  }

  async function end(record: ServerRecord, detail: string): Promise<ServerRecord> {
    await stop(record, context);
    return keep(record, { ...record, state: 'stopped', detail, endedAt: now() });
  }

  async function start(engine: EngineEntry, launcher: ServerLauncher): Promise<ServerRecord> {
    const before = records.read(engine.name);
    if (before !== null && mayBeUp(await see(before)))
      throw inputError('SERVER_IS_UP', `The server of "${engine.name}" may be up already`, 'Stop it first.');
    if (await answersAt(engine))
      throw inputError(
        'SERVER_ANSWERS',
        `Something answers at ${engine.url} already, so nothing was started`,
        'Use it as it is, or end it where it was started.',
      );
    const record: ServerRecord = {
      engine: engine.name,
      url: engine.url,
      allowPlain: engine.allowPlain,
      where: launcherWords(launcher),
      handle: plan(launcher, engine),
      startedAt: now(),
      endedAt: null,
      answeredAt: null,
      state: 'starting',
      detail: 'It was asked to start',
      idleMinutes: launcher.idleMinutes,
      maxHours: launcher.maxHours,
      endsIdle:
        launcher.idleMinutes > 0 && (launcher.kind === 'command' || portOfServer(launcher, engine.url) !== null),
    };
    records.write(record);
    records.touch(engine.name);
    try {
      const started = { ...record, handle: await begin(launcher, record, context) };
      // Also over what another process has seen meanwhile.
      records.write(started);
      return started;
    } catch (error) {
      const looked = mayHaveArrived(error) ? await look(record, context) : null;
      // The answer was lost, not the request.
      if (looked?.state === 'starting') return keep(record, { ...record, ...looked });
      const detail = error instanceof Error ? error.message : String(error);
      if (looked?.state === 'unknown') keep(record, { ...record, ...looked });
      else if (looked?.state === 'gone') keep(record, { ...record, ...looked, endedAt: now() });
      else keep(record, { ...record, state: 'failed', detail, endedAt: now() });
      throw error;
    }
  }

  function known(engine: string): ServerRecord {
    const record = records.read(engine);
    if (record !== null) return record;
    throw inputError('SERVER_UNKNOWN', `No server of "${engine}" was started from here`, 'Start it first.');
  }

  const view = (record: ServerRecord): ServerStatus => viewOf(record, records);
  return {
    records,
    up: (engine) =>
      inTurn(engine.name, async () => {
        if (engine.launcher !== null) return view(await start(engine, engine.launcher));
        throw inputError(
          'NO_LAUNCHER',
          `Braid wasn't told how to start the server of "${engine.name}"`,
          'Edit the engine in Settings.',
        );
      }),
    down: (engine) =>
      inTurn(engine, async () => {
        const record = known(engine);
        return view(mayBeUp(record) ? await end(record, 'It was stopped') : record);
      }),
    status: async (engine) => {
      const record = records.read(engine);
      return record === null ? null : view(await inTurn(engine, () => see(records.read(engine) ?? record)));
    },
    list: () => records.list().map(view),
    refresh: async () => {
      const looked = await Promise.allSettled(
        records.list().map(({ engine }) =>
          inTurn(engine, async () => {
            // Not as it was listed: it may just have been started, or stopped.
            const before = records.read(engine);
            if (before === null || !mayBeUp(before)) return null;
            const seen = await see(before);
            const after = isIdle(seen, records, now()) ? await end(seen, idleWords(seen)) : seen;
            return after.state === before.state ? null : view(after);
          }),
        ),
      );
      const failed = looked.filter((one) => one.status === 'rejected');
      const changed = looked.flatMap((one) => (one.status === 'fulfilled' && one.value !== null ? [one.value] : []));
      // What has ended is reported, also beside a server that can't be asked.
      if (changed.length === 0 && failed[0] !== undefined) throw failed[0].reason;
      for (const { reason } of failed) logFault('Looking at a server of an engine', reason);
      return changed;
    },
    log: (engine) => log(known(engine), context),
    forget: (engine) => {
      const record = known(engine);
      if (record.state !== 'unknown')
        throw inputError('SERVER_KNOWN', `The server of "${engine}" can be asked: it is ${record.state}`);
      const detail = 'You said that it is gone; nobody could be asked';
      return view(keep(record, { ...record, state: 'gone', detail, endedAt: now() }));
    },
    isMissing: async (engine) => engine.launcher !== null && !(await answersAt(engine)),
  };
}

/**
 * A server that ends by itself, as the supervisor of a command does, needs nobody to end it. One that has never answered
 * isn't idle: loading a large model takes longer than an idle time, and its longest time, if it has one, ends one that is
 * stuck.
 */
function isIdle(record: ServerRecord, records: ServerRecords, now: number): boolean {
  const { idleMinutes, maxHours, handle, state, startedAt, answeredAt } = record;
  if (idleMinutes === 0 || handle.kind === 'command' || (state !== 'starting' && state !== 'up')) return false;
  if (answeredAt === null && maxHours > 0) return false;
  return now - Math.max(records.usedAt(record), answeredAt ?? startedAt) > idleMinutes * 60_000;
}

function idleWords({ idleMinutes }: ServerRecord): string {
  return `It was stopped because nothing had used it for ${formatDuration(idleMinutes * 60)}`;
}

/** What its process and its answers mean together. */
function judged(record: ServerRecord, { state, detail }: Looked, answers: boolean): Looked {
  if (state !== 'starting') return { state, detail };
  if (answers) return { state: 'up', detail: `It answers at ${record.url}` };
  const since = record.answeredAt === null ? 'yet' : 'any more';
  return { state, detail: `${detail}; nothing answers at ${record.url} ${since}` };
}

function viewOf({ handle, allowPlain: _, ...record }: ServerRecord, records: ServerRecords): ServerStatus {
  const usedAt = records.usedAt({ ...record, handle, allowPlain: _ });
  return { ...record, kind: handle.kind, mayBeUp: mayBeUp(record), usedAt };
}

/** Whether a start that failed may have started something: not where nobody was reached, or where it was refused. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof BraidError) || error.kind === 'input') return false;
  return error.code.endsWith('_UNREACHABLE') && !neverSent(error) && !neverSent(error.cause);
}

/** A job whose start was never answered, and which wasn't found: it may be listed later, and cost. */
function mayArriveLate({ handle, state }: ServerRecord): boolean {
  return handle.kind === 'hf' && handle.jobId === null && (state === 'gone' || state === 'stopped');
}

/** One thing after another for each engine: a server isn't looked at while it is being started or stopped. */
function openTurns(): <T>(engine: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (engine, work) => {
    const turn = (last.get(engine) ?? Promise.resolve()).then(work, work);
    last.set(
      engine,
      turn.catch(() => undefined),
    );
    return turn;
  };
}

const TIMEOUT_MS = 3000;

/** What a gateway says while nothing is behind it counts as none. */
async function answersAt({ url, allowPlain }: { readonly url: string; readonly allowPlain: boolean }) {
  try {
    const { status } = await fetch(`${engineAddress(url, allowPlain)}/api/v1/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return status < 500;
  } catch {
    return false;
  }
}
