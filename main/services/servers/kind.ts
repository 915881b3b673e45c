/** What every way of starting a server can do. */
import type { EngineEntry } from '../engines/engines.ts';
import type { ServerLauncher, ServerLauncherOf } from '../engines/server-launcher.ts';
import type { Handle, HandleOf, ServerRecord, ServerRecords, ServerState } from '../engines/server-records.ts';
import type { Secrets } from '../workspace/secrets.ts';

/** How a server's process or job is; whether the server answers is another question. */
export interface Looked {
  readonly state: ServerState;
  readonly detail: string;
}

export interface KindContext {
  readonly records: ServerRecords;
  readonly secrets: Pick<Secrets, 'get'>;
}

export interface StartedRecord<K extends ServerLauncher['kind']> extends ServerRecord {
  readonly handle: HandleOf<K>;
}

/** One way of starting a server. Each function throws what went wrong. */
export interface ServerKind<K extends ServerLauncher['kind']> {
  /** What is written down before anything starts. */
  plan(launcher: ServerLauncherOf<K>, engine: EngineEntry): HandleOf<K>;
  /** Starts it; the handle that it has then. */
  start(launcher: ServerLauncherOf<K>, record: StartedRecord<K>, context: KindContext): Promise<HandleOf<K>>;
  look(record: StartedRecord<K>, context: KindContext): Promise<Looked>;
  /** Ends it, and waits until it has ended or will. */
  stop(record: StartedRecord<K>, context: KindContext): Promise<void>;
  /** The end of what it printed. */
  log(record: StartedRecord<K>, context: KindContext): Promise<string>;
}

/** Of a server that ended itself. */
export const ENDED_IDLE = 'It was stopped because nothing had used it for its idle time';

/** Characters of a log that are kept. */
export const LOG_CHARACTERS = 60_000;

/** The end of a log, from the start of a line. */
export function tailOf(text: string): string {
  if (text.length <= LOG_CHARACTERS) return text;
  const tail = text.slice(-LOG_CHARACTERS);
  return tail.slice(tail.indexOf('\n') + 1);
}

/** Narrows a record to its kind. */
export function isKind<K extends Handle['kind']>(record: ServerRecord, kind: K): record is StartedRecord<K> {
  return record.handle.kind === kind;
}
