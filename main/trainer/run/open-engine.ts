/** Opens what a run is computed by: this machine, or the engine that its configuration names. */
import { openBackend } from '../backend/open-backend.ts';
import { isReinforcement } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { openLocalEngine } from '../local/local-engine.ts';
import { openSession, type Session } from '../local/session.ts';
import type { TrainerStart } from '../protocol/start.ts';
import { tryLengths } from '../rollout/try-lengths.ts';
import type { SettledLengths, Stage } from '../stage/stage.ts';
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
    const opened = openSession(start);
    const session = { ...opened, ...(await settledLengths(opened, openLocalEngine(opened, backend))) };
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

/** The limit of completions, and how they fare by it; nothing where that is known, or nothing is sampled first. */
async function settledLengths(session: Session, engine: Engine): Promise<SettledLengths> {
  const { config, start, maxCompletionLength, trialLength = maxCompletionLength } = session;
  const isOpen = trialLength > maxCompletionLength;
  const isNew = start.resumeFrom === null && isReinforcement(config.method) && config.warm_up_steps === 0;
  // What a pre-flight check has estimated knows the lengths.
  if (!isOpen && (!isNew || start.estimate !== null)) return {};
  return tryLengths({ ...session, engine }, { ...session, trialLength });
}
