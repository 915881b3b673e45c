/** Refuses work on an engine whose server was to be started from here, and doesn't answer. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { EngineEntry, EngineFile } from '../engines/engines.ts';
import { requireEngine } from '../engines/engines.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import type { Servers } from './servers.ts';

/** Throws where its server can be launched from here and isn't up. */
export async function requireUp(servers: Pick<Servers, 'isMissing'>, engine: EngineEntry): Promise<void> {
  if (!(await servers.isMissing(engine))) return;
  throw inputError(
    'SERVER_NOT_UP',
    `The server of "${engine.name}" isn't up: nothing answers at ${engine.url}`,
    `Launch it in Settings, Engines, or by braid engine up ${engine.name}; then start or resume the run. Its history and checkpoints are safe.`,
  );
}

/** The engine of a run that is to be resumed; null: it is computed here. */
export function engineOfRun(store: Store, engines: EngineFile, runId: number): EngineEntry | null {
  const { engine } = savedConfig(requireRun(store, runId));
  return engine === null ? null : requireEngine(engines, engine);
}
