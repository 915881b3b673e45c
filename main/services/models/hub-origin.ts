/** Which model of the Hub a folder holds: its download writes that down, as the folder's name says half of it only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type BraidError, inputError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import type { HubModel } from './hub-errors.ts';

/** `owner/name`, as the Hub names models. */
export const HUB_NAME = /^[\w][\w.-]*\/[\w][\w.-]*$/;

const FILE = 'hub-model.json';
const LARGEST = 10_000;
const schema = z.object({ repo: z.string(), revision: z.string() });

export function recordHubModel(folder: string, { repo, revision }: HubModel): void {
  writeFileAtomic(join(folder, FILE), `${JSON.stringify({ repo, revision }, null, 2)}\n`);
}

/** null: it isn't known, as the folder was copied there or downloaded by an earlier version. */
export function recordedHubModel(folder: string): HubModel | null {
  try {
    return schema.parse(parseJson(readRegular(join(folder, FILE), LARGEST).toString('utf8')));
  } catch {
    // Missing or edited by hand: then it tells nothing, and must not keep the model from being used.
    return null;
  }
}

/** Where a model of the Hub is in the workspace once it is downloaded. */
export function hubModelFolder({ models }: { readonly models: string }, repo: string): string {
  return join(models, repo.split('/')[1] ?? repo);
}

/** The folder of a downloaded model; null if there is none, or it is known to hold another owner's model. */
export function downloadedHubModel(models: string, repo: string): string | null {
  const folder = hubModelFolder({ models }, repo);
  if (!existsSync(join(folder, 'config.json'))) return null;
  const recorded = recordedHubModel(folder);
  return recorded === null || isSame(recorded.repo, repo) ? folder : null;
}

/** Of a name as the Hub's; `wayOn`: what to do but give a path. */
export function notDownloaded(model: string, wayOn: string): BraidError {
  return inputError(
    'MODEL_MISSING',
    `${model}: there is no such folder, and no model of that name has been downloaded`,
    `Give the path of a model folder, or ${wayOn}.`,
  );
}

/** Refuses a folder that is known to hold another model than the one of this name. */
export function refuseOtherHubModel(folder: string, repo: string): void {
  const recorded = recordedHubModel(folder);
  if (recorded === null || isSame(recorded.repo, repo)) return;
  throw inputError(
    'MODEL_EXISTS',
    `${folder} holds ${recorded.repo}, not ${repo}: both would have the same folder`,
    `Nothing was changed. For ${recorded.repo}, give its folder; for ${repo}, rename that folder or delete it in Models first.`,
  );
}

/** The Hub doesn't tell names apart by their capitals. */
function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
