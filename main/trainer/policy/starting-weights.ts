/** Which weights a run started from and reads again when it is resumed, as its checkpoints note them. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { describeFile } from '../../io/describe-file.ts';
import { readJson } from '../../model/read-json.ts';
import { NOT_THE_MODEL } from './checkpoint-names.ts';

/** In a checkpoint; absent in those of older versions. */
export const STARTING_MODEL = 'starting_model.json';

/** The files of weights in order: those of the model, then those of the adapter that it started from. */
export type StartingModel = Readonly<Record<string, string>>;

const schema = z.record(z.string(), z.string());

/** Of each folder's weights, in order. */
export function describeWeights(folders: readonly string[]): StartingModel {
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.safetensors') && !NOT_THE_MODEL.includes(name))
      .sort()
      .map((name) => join(folder, name)),
  );
  return Object.fromEntries(files.map((file, i) => [`weights ${i + 1}`, describeFile(file)]));
}

/** What a checkpoint notes; null: nothing, as it is of an older version. */
export function notedWeights(checkpoint: string): StartingModel | null {
  const file = join(checkpoint, STARTING_MODEL);
  return existsSync(file) ? schema.parse(readJson(file)) : null;
}

/** Whether `base` may be the model that the adapter in `checkpoint` was trained on. */
export function mayBeBase(checkpoint: string, base: string): boolean {
  const noted = notedWeights(checkpoint);
  return noted === null || Object.entries(describeWeights([base])).every(([name, file]) => noted[name] === file);
}
