/**
 * Which weights a run started from, noted in its checkpoints. The KL reference and an adapter's base are read from there
 * again when a run is resumed: with others (a model that was replaced, or a bundled one of another version) it would go
 * on as another run.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { describeFile } from '../../io/describe-file.ts';
import { parameterShapes } from '../../model/model.ts';
import { readJson } from '../../model/read-json.ts';
import { changesReference } from '../config/config.ts';
import { REFERENCE_FILE } from '../policy/reference.ts';
import type { Session } from './session.ts';

/** In a checkpoint; absent in those of older versions. */
export const STARTING_MODEL = 'starting_model.json';

/** By file of weights. */
export type StartingModel = Readonly<Record<string, string>>;

const schema = z.record(z.string(), z.string());
const isWeights = (name: string): boolean =>
  name.endsWith('.safetensors') && name !== 'optimizer.safetensors' && name !== REFERENCE_FILE;

/** Of each folder's weights, in order. */
export function describeWeights(folders: readonly string[]): StartingModel {
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter(isWeights)
      .sort()
      .map((name) => join(folder, name)),
  );
  return Object.fromEntries(files.map((file, i) => [`weights ${i + 1}`, describeFile(file)]));
}

/** Refuses to resume `folder` on other weights than the run started from, where they are used on. */
export function checkStartingModel(folder: string, { start, startingModel, policy, reference }: StartedSession): void {
  const readsReference = reference !== null && !changesReference(start.config);
  if (!readsReference && policy.adapter === null) return;
  const file = join(folder, STARTING_MODEL);
  const isSame = existsSync(file)
    ? JSON.stringify(schema.parse(readJson(file))) === JSON.stringify(startingModel)
    : !readsReference || shapesOf(policy) === shapesOf(reference);
  if (isSame) return;
  const used = policy.adapter === null ? 'its KL reference' : "its adapter's base";
  throw inputError(
    'OTHER_MODEL',
    `${folder}: the model that the run started from, ${start.config.from_checkpoint ?? start.config.model}, has other weights now; as ${used} they would make it another run`,
    'Put the model back as it was (a bundled one changes with the version of Braid), or start a new run from the checkpoint.',
  );
}

type StartedSession = Pick<Session, 'start' | 'startingModel' | 'policy' | 'reference'>;

function shapesOf({ model }: Session['policy']): string {
  return JSON.stringify([...parameterShapes(model.config)]);
}
