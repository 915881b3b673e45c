/** What a checkpoint records of a remote engine, so that a run can continue from the state that lies there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { readJson } from '../../model/config.ts';
import type { RemoteEngine } from '../protocol/remote.ts';

export const ENGINE_FILE = 'engine.json';

const stateSchema = z.object({
  version: z.literal(1),
  engine: z.string(),
  url: z.string(),
  base_model: z.string(),
  /** Weights and optimiser on the server. */
  path: z.string().min(1),
});

export type EngineState = z.infer<typeof stateSchema>;

export function encodeState(state: EngineState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** The state that a checkpoint records; throws if it was trained here, elsewhere than at `url`, or on another base. */
export function readState(folder: string, engine: Pick<RemoteEngine, 'name' | 'url' | 'baseModel'>): EngineState {
  const file = join(folder, ENGINE_FILE);
  if (!existsSync(file))
    throw inputError(
      'ENGINE_NO_IMPORT',
      `${folder} was trained on this machine: an adapter can't be sent to the engine "${engine.name}"`,
      'Train this stage here (engine null), or start the engine’s stage from its base model.',
    );
  const parsed = stateSchema.safeParse(readJson(file));
  if (!parsed.success) throw inputError('BAD_CHECKPOINT', `${file}: not a valid engine state`);
  const { data } = parsed;
  if (data.url !== engine.url)
    throw inputError(
      'ENGINE_OTHER',
      `${folder} has its state on the engine at ${data.url}, not at ${engine.url}`,
      'Continue on that engine, or train the next stage here from the checkpoint: the adapter is in it.',
    );
  if (data.base_model === engine.baseModel) return data;
  throw inputError(
    'ENGINE_OTHER_MODEL',
    `${folder} has an adapter of "${data.base_model}", and the engine "${engine.name}" now trains "${engine.baseModel}"`,
    `Set the engine's base model back to ${data.base_model} in Settings, Engines.`,
  );
}
