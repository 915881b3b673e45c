/** Opens what a run is computed by: this machine, or the engine that its configuration names. */
import { openBackend } from '../backend/open-backend.ts';
import type { Engine } from '../engine/engine.ts';
import { openLocalEngine } from '../local/local-engine.ts';
import { openSession, type Session } from '../local/session.ts';
import type { TrainerStart } from '../protocol/start.ts';
import type { Stage } from '../stage/stage.ts';
import { openRemote } from '../tinker/open-remote.ts';

export interface OpenedEngine {
  readonly stage: Stage;
  readonly engine: Engine;
  /** The stage with its model, where that is on this machine. */
  readonly session: Session | null;
  close(): Promise<void>;
}

/** Opens stage and engine. All input errors are found here, before the first step. */
export async function openEngine(start: TrainerStart): Promise<OpenedEngine> {
  const { engine: remote = null } = start;
  if (remote !== null) return { ...(await openRemote(start, remote)), session: null };
  if (start.config.engine === null) return openHere(start);
  throw new Error(`Expected the address of the engine "${start.config.engine}", got none`);
}

async function openHere(start: TrainerStart): Promise<OpenedEngine> {
  const { backend: asked, threads } = start.config;
  const { kernelsFile, modelFolder } = start;
  const backend = await openBackend({ backend: asked, threads, kernelsFile, modelFolder, run: start.config });
  try {
    const session = openSession(start);
    const engine = openLocalEngine(session, backend);
    return {
      stage: session,
      engine,
      session,
      close: async () => {
        await engine.dispose();
        session.dispose();
        await backend.close();
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}
