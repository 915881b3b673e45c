/**
 * What was started where, in files of the user's configuration: a server outlives the app, so that what is still up is
 * known after a restart, too. A record is written before anything is started.
 */
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { BraidError } from '../../errors.ts';
import { errorCode, writeFileAtomic } from '../../io/atomic-write.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { secretsFile } from '../workspace/secrets.ts';

/**
 * starting: it runs, and nothing answers. up: it answers. failed: it ended with an error. stopped: it was ended, or
 * ended well. gone: nobody knows it any more. unknown: nobody can be asked, so it may be up.
 */
const SERVER_STATES = ['starting', 'up', 'failed', 'stopped', 'gone', 'unknown'] as const;
export type ServerState = (typeof SERVER_STATES)[number];

const handleSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    /** Of the supervisor, which leads a process group; null: not started yet. */
    pid: z.int().nullable(),
    /** Tells it from another process of that number. */
    hostId: z.string().nullable(),
    host: z.string().nullable(),
    /** Its name on that host. */
    label: z.string(),
  }),
  z.strictObject({
    kind: z.literal('ray'),
    dashboard: z.string(),
    allowPlain: z.boolean(),
    submissionId: z.string(),
  }),
  z.strictObject({
    kind: z.literal('hf'),
    namespace: z.string(),
    /** null: it was never answered, so the job is found by its label. */
    jobId: z.string().nullable(),
    label: z.string(),
  }),
]);

export type Handle = Readonly<z.infer<typeof handleSchema>>;
export type HandleOf<K extends Handle['kind']> = Extract<Handle, { readonly kind: K }>;

const recordSchema = z.strictObject({
  engine: z.string(),
  /** The engine's address. */
  url: z.string(),
  allowPlain: z.boolean(),
  /** Where it runs, in a few words. */
  where: z.string(),
  handle: handleSchema,
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  /** When the server first answered. */
  answeredAt: z.number().nullable(),
  state: z.enum(SERVER_STATES),
  /** Why it is in this state, in a sentence. */
  detail: z.string(),
  idleMinutes: z.number(),
  /** Whether it ends after that time without Braid, too. */
  endsIdle: z.boolean().default(false),
  maxHours: z.number(),
});

export type ServerRecord = Readonly<z.infer<typeof recordSchema>>;

export interface ServerRecords {
  /** null: this engine's server was never started from here. */
  read(engine: string): ServerRecord | null;
  /** All that can be read, by engine. */
  list(): readonly ServerRecord[];
  write(record: ServerRecord): void;
  /** The folder of an engine's server: record, log. */
  folder(engine: string): string;
  /** Notes that it is in use. */
  touch(engine: string): void;
  /** When it was last in use. */
  usedAt(record: ServerRecord): number;
}

/** Whether it may be running, and may cost. */
export function mayBeUp({ state }: Pick<ServerRecord, 'state'>): boolean {
  return state === 'starting' || state === 'up' || state === 'unknown';
}

const PREFIX = 'engine-';

/** Opens the folder; it is made when the first server is started. */
export function openServerRecords(root: string = join(dirname(secretsFile()), 'servers')): ServerRecords {
  // An engine may be called "..".
  const folder = (engine: string): string => join(root, `${PREFIX}${engine}`);
  const file = (engine: string): string => join(folder(engine), 'record.json');
  const used = (engine: string): string => join(folder(engine), 'used');
  return {
    folder,
    read: (engine) => readRecord(file(engine)),
    list: () =>
      namesIn(root)
        .toSorted()
        .flatMap((engine) => readable(file(engine)) ?? []),
    write: (record) => {
      makeFolder(folder(record.engine), { mode: 0o700 });
      const what = `what is known of the server of "${record.engine}"`;
      writeFileAtomic(file(record.engine), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, what });
    },
    touch: (engine) => {
      const now = new Date();
      try {
        utimesSync(used(engine), now, now);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        if (readRecord(file(engine)) !== null) writeFileSync(used(engine), '', { mode: 0o600 });
      }
    },
    usedAt: ({ engine, startedAt }) => {
      const at = statSync(used(engine), { throwIfNoEntry: false })?.mtimeMs ?? startedAt;
      return Math.max(at, startedAt);
    },
  };
}

/** How often a use is noted: much shorter than any idle time. */
const NOTE_MS = 20_000;

/** Keeps a server from counting as idle until the returned function is called. */
export function keepInUse(records: Pick<ServerRecords, 'touch'>, engine: string): () => void {
  const note = (): void => {
    try {
      records.touch(engine);
    } catch {
      // A full disk must not end the run; the server may end as idle, which the run then reports.
    }
  };
  note();
  const timer = setInterval(note, NOTE_MS).unref();
  return () => {
    clearInterval(timer);
    note();
  };
}

function namesIn(root: string): string[] {
  try {
    return readdirSync(root).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** One bad file must not hide the others; reading that engine's own record reports it. */
function readable(file: string): ServerRecord | null {
  try {
    return readRecord(file);
  } catch {
    return null;
  }
}

function readRecord(file: string): ServerRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return null;
    throw new BraidError('SERVER_UNREADABLE', `${file}: expected what Braid knows of a server, and can't read it`, {
      cause,
      remedy: 'Check where the server was started whether it is still up, end it there, then delete the file.',
    });
  }
}
