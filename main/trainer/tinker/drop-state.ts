/** Removes from a server what a checkpoint that goes here has there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteEngine } from '../protocol/remote.ts';
import { openHttp } from './http.ts';
import { ENGINE_FILE, readState } from './state.ts';

/** Deletes the state that a checkpoint's folder records, if it lies on this engine. Throws what went wrong. */
export async function dropState(folder: string, engine: RemoteEngine): Promise<void> {
  if (!existsSync(join(folder, ENGINE_FILE))) return;
  const { path } = readState(folder, engine);
  const http = openHttp(engine);
  try {
    await removeState(http, path);
  } finally {
    http.close();
  }
}

/** Deletes the state at this path. */
export async function removeState(http: Pick<ReturnType<typeof openHttp>, 'remove'>, path: string): Promise<void> {
  const [, model, state] = /^tinker:\/\/([\w-]+)\/weights\/([\w.-]+)$/.exec(path) ?? [];
  // A server that names its states in another way keeps them.
  if (model === undefined || state === undefined) return;
  await http.remove(`training_runs/${model}/checkpoints/weights/${state}`);
}
