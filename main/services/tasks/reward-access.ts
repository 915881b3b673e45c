/** What a process is given to compute a task's components outside the sandbox, once the user has agreed to them. */
import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { type ExternalAccess, modelOf, placeOf } from '../../tasks/external/access.ts';
import type { ExternalSpec } from '../../tasks/external/spec.ts';
import { outsideParts, parseDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import { checkCommandFiles, type FolderSource } from '../../tasks/folder/source.ts';
import type { TaskSource } from '../../tasks/index.ts';
import { isLink } from '../workspace/own-folders.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';
import { type ConsentFile, openConsentFile, requireAllowed } from './consent.ts';
import { originOf, rewardKey } from './reward-keys.ts';

/** What the user has agreed to, and their keys; by default those of this machine. */
export interface RewardTrust {
  readonly consents?: ConsentFile;
  readonly secrets?: Pick<Secrets, 'get'>;
}

/** Where a task's components find what they need. */
export interface RewardPlaces {
  /** The workspace's folder. */
  readonly workspace: string;
  readonly paths: Pick<HostPaths, 'externalRewards' | 'kernels'>;
}

/** Answers of judges, in the workspace. */
const CACHE = 'judge-answers';

/** Throws what the user hasn't agreed to, and models that aren't there; null: the task needs nothing. */
export function rewardAccess(
  source: TaskSource,
  { workspace, paths }: RewardPlaces,
  { consents = openConsentFile(), secrets = openSecrets() }: RewardTrust = {},
): ExternalAccess | null {
  if (typeof source === 'string') return null;
  const definition = parseDefinition(join(source.folder, TASK_FILE), source.definition);
  const components = Object.entries(outsideParts(definition));
  if (components.length === 0) return null;
  checkCommandFiles(source);
  const allowed = requireAllowed(source, consents).map(({ hash }) => hash);
  const addresses = components.flatMap(([, spec]) => placeOf(spec) ?? []);
  const keys = addresses.flatMap((address) => {
    const key = rewardKey(secrets, address);
    return key === null ? [] : [[originOf(address), key] as const];
  });
  return {
    worker: paths.externalRewards,
    allowed,
    keys: Object.fromEntries(keys),
    cacheFolder: ownFolder(join(workspace, CACHE)),
    models: rewardModels(source, { workspace }),
    kernelsFile: paths.kernels,
  };
}

/** The folders of a task's models, by component; throws if one isn't there. */
export function rewardModels(
  { folder, definition }: FolderSource,
  { workspace }: Pick<RewardPlaces, 'workspace'>,
): Readonly<Record<string, string>> {
  const { external } = parseDefinition(join(folder, TASK_FILE), definition);
  return Object.fromEntries(Object.entries(external).flatMap(([name, spec]) => modelEntry(name, spec, workspace)));
}

/** A workspace that came with a link in its place could have files written anywhere. */
function ownFolder(folder: string): string {
  if (!isLink(folder)) return folder;
  throw inputError(
    'CACHE_IS_LINK',
    `${folder} is a link, so no answers of judges are kept behind it`,
    'Delete the link; the folder is made again.',
  );
}

function modelEntry(name: string, spec: ExternalSpec, workspace: string): (readonly [string, string])[] {
  if (spec.kind !== 'classifier' && spec.kind !== 'encoder') return [];
  const given = modelOf(spec);
  const folder = isAbsolute(given) ? given : join(workspace, given);
  if (existsSync(join(folder, 'config.json')) && statSync(folder).isDirectory()) return [[name, folder]];
  throw inputError(
    'REWARD_MODEL_MISSING',
    `The component "${name}" of the reward needs the model ${given}, but there is none at ${folder}`,
    'Import or download the model, and name its folder from the workspace, such as models/NAME.',
  );
}
