/** The fingerprint of a model's current files, and of those that score it: an evaluation is valid while it is unchanged. */
import { createHash } from 'node:crypto';
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeFile } from '../../../io/describe-file.ts';
import { readRegular } from '../../../io/read-file.ts';
import type { TaskSource } from '../../../tasks/index.ts';
import { NOT_THE_MODEL } from '../../../trainer/policy/checkpoint-names.ts';
import type { ModelParts } from '../../../trainer/policy/model-parts.ts';
import { rewardModels } from '../../tasks/reward-access.ts';

/** The files that determine completions: weights, adapter, config, tokenizer, system prompt. Optimiser state and logs don't. */
const COUNTS =
  /\.safetensors(\.index\.json)?$|^(adapter_config|chat_settings|config|generation_config|tokenizer.*)\.json$|\.jinja$/;

/** The folders of the reward models of a task; throws if one isn't there. */
export function scoringFolders(source: TaskSource, workspace: string): readonly string[] {
  return typeof source === 'string' ? [] : Object.values(rewardModels(source, { workspace }));
}

/**
 * Equal for equal files, wherever they lie, and the same limit of completions where one is recorded. `scoring`: the
 * folders of reward models.
 */
export function modelFingerprint(
  parts: ModelParts,
  limit: number | null = null,
  scoring: readonly string[] = [],
): string {
  return hashed(parts, limit, scoring, (place, folder, name, { size, mtimeMs }) => [
    place,
    name,
    contentOf(join(folder, name), `${size} ${mtimeMs}`),
  ]);
}

/** As earlier versions stored it: by paths and times, which another place of the app or of the workspace changes. */
export function earlierFingerprint(parts: ModelParts, limit: number | null = null): string {
  return hashed(parts, limit, [], (_, folder, name, { size, mtimeMs }) => [folder, name, size, Math.round(mtimeMs)]);
}

type Described = (place: number, folder: string, name: string, stats: Stats) => readonly unknown[];

function hashed(
  { base, adapter, tokenizer, chat }: ModelParts,
  limit: number | null,
  scoring: readonly string[],
  describe: Described,
): string {
  const folders = [...new Set([base, adapter ?? base, tokenizer]), ...scoring];
  const files = folders.flatMap((folder, place) =>
    readdirSync(folder)
      .filter((name) => COUNTS.test(name) && !NOT_THE_MODEL.includes(name))
      .sort()
      .map((name) => describe(place, folder, name, statSync(join(folder, name)))),
  );
  return createHash('sha256')
    .update(JSON.stringify([...files, ...(chat === undefined ? [] : [chat]), ...(limit === null ? [] : [limit])]))
    .digest('hex')
    .slice(0, 32);
}

/** Pages ask for the same files again and again: by path, with the size and time that it was read at. */
const known = new Map<string, { readonly state: string; readonly content: string }>();

function contentOf(file: string, state: string): string {
  const before = known.get(file);
  if (before?.state === state) return before.content;
  const content = file.endsWith('.safetensors')
    ? describeFile(file)
    : createHash('sha256').update(readRegular(file)).digest('hex');
  known.set(file, { state, content });
  return content;
}
