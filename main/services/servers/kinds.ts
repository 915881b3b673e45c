/** The three ways of starting a server, by the kind of launcher or record. */
import type { EngineEntry } from '../engines/engines.ts';
import type { ServerLauncher } from '../engines/server-launcher.ts';
import type { ServerRecord } from '../engines/server-records.ts';
import { commandServer } from './command.ts';
import { hfServer } from './hf.ts';
import { isKind, type KindContext, type Looked } from './kind.ts';
import { rayServer } from './ray.ts';

/** What is written down before anything starts. */
export function plan(launcher: ServerLauncher, engine: EngineEntry): ServerRecord['handle'] {
  if (launcher.kind === 'command') return commandServer.plan(launcher, engine);
  return launcher.kind === 'ray' ? rayServer.plan(launcher, engine) : hfServer.plan(launcher, engine);
}

/** Starts a server. */
export function begin(
  launcher: ServerLauncher,
  record: ServerRecord,
  context: KindContext,
): Promise<ServerRecord['handle']> {
  if (launcher.kind === 'command' && isKind(record, 'command')) return commandServer.start(launcher, record, context);
  if (launcher.kind === 'ray' && isKind(record, 'ray')) return rayServer.start(launcher, record, context);
  if (launcher.kind === 'hf' && isKind(record, 'hf')) return hfServer.start(launcher, record, context);
  throw new Error(`Expected a handle of ${launcher.kind}, got ${record.handle.kind}`);
}

/** How its process or job is. */
export async function look(record: ServerRecord, context: KindContext): Promise<Looked> {
  if (isKind(record, 'command')) return commandServer.look(record, context);
  if (isKind(record, 'ray')) return rayServer.look(record, context);
  return isKind(record, 'hf') ? hfServer.look(record, context) : never(record);
}

/** Ends it. */
export async function stop(record: ServerRecord, context: KindContext): Promise<void> {
  if (isKind(record, 'command')) return commandServer.stop(record, context);
  if (isKind(record, 'ray')) return rayServer.stop(record, context);
  return isKind(record, 'hf') ? hfServer.stop(record, context) : never(record);
}

/** The end of what it printed. */
export async function log(record: ServerRecord, context: KindContext): Promise<string> {
  if (isKind(record, 'command')) return commandServer.log(record, context);
  if (isKind(record, 'ray')) return rayServer.log(record, context);
  return isKind(record, 'hf') ? hfServer.log(record, context) : never(record);
}

function never({ handle }: ServerRecord): never {
  throw new Error(`Expected a known kind of server, got ${handle.kind}`);
}
