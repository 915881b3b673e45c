/** Servers of engines in a folder of the test, and a server that answers. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { EngineEntry } from '../../../main/services/engines/engines.ts';
import { launcherSchema, type ServerLauncher } from '../../../main/services/engines/server-launcher.ts';
import { openServerRecords, type ServerRecords } from '../../../main/services/engines/server-records.ts';
import { openServers, type Servers } from '../../../main/services/servers/servers.ts';
import { openSecrets, type Secrets } from '../../../main/services/workspace/secrets.ts';
import { closeServer } from '../../local-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

export interface Desk {
  readonly records: ServerRecords;
  readonly secrets: Secrets;
  readonly servers: Servers;
  /** The same files after a restart of the app. */
  again(now?: () => number): Servers;
}

export function openDesk(now?: () => number): Desk {
  const root = temporaryFolder();
  const secrets = openSecrets({ file: join(root, 'secrets.json') });
  const open = (clock = now): Servers =>
    openServers({ records: openServerRecords(join(root, 'servers')), secrets, ...(clock && { now: clock }) });
  return { records: openServerRecords(join(root, 'servers')), secrets, servers: open(), again: open };
}

type Given<T> = T extends { readonly kind: infer K } ? { readonly kind: K } & Readonly<Record<string, unknown>> : never;

/** An engine with a launcher; its settings that aren't given have their defaults. */
export function engineWith(url: string, launcher: Given<ServerLauncher>, name = 'cluster'): EngineEntry {
  return { name, url, baseModel: 'm', allowPlain: false, prices: null, launcher: launcherSchema.parse(launcher) };
}

/**
 * A port of this machine that nobody uses. It lies below those that systems give away by themselves: one of theirs may be
 * another program's by the time a test's server is launched.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Something that answers on a port; ends with the test. */
export async function answerOn(port: number): Promise<() => Promise<void>> {
  const server = createServer((_, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = (): Promise<void> => closeServer(server);
  onTestFinished(close);
  return close;
}

/** A command that answers on a port, and ignores what it is asked. */
export function serverCommand(port: number): string {
  const program = `console.log("ready");require("http").createServer((q,r)=>r.end("{}")).listen(${port},"127.0.0.1")`;
  return `exec '${process.execPath}' -e '${program}'`;
}
