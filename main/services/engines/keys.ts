/** Keys of engines. They belong to an address, so that a workspace from elsewhere can't have them sent somewhere new. */
import { inputError } from '../../errors.ts';
import type { Secrets } from '../workspace/secrets.ts';
import type { EngineEntry } from './engines.ts';

/** For machines without a key store, and for keys that the desktop has encrypted. */
const ENGINE_KEY = 'BRAID_ENGINE_KEY';

/** The key for an engine's address; null: none. */
export function engineKey(
  secrets: Pick<Secrets, 'get'>,
  { url }: Pick<EngineEntry, 'url'>,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  return secrets.get(nameOf(url)) ?? (env[ENGINE_KEY]?.trim() || null);
}

/** Keeps a key for an engine's address; null forgets it. */
export function setEngineKey(
  secrets: Pick<Secrets, 'set'>,
  { url }: Pick<EngineEntry, 'url'>,
  key: string | null,
): void {
  secrets.set(nameOf(url), checked(key));
}

/** The token for the cluster of a Ray job; RAY_AUTH_TOKEN as in Ray's own tools. null: none. */
export function clusterToken(
  secrets: Pick<Secrets, 'get'>,
  { dashboard }: { readonly dashboard: string },
): string | null {
  return secrets.get(clusterName(dashboard)) ?? (process.env.RAY_AUTH_TOKEN?.trim() || null);
}

/** Keeps the token for the address of an engine's cluster; null forgets it. */
export function setClusterToken(
  secrets: Pick<Secrets, 'set'>,
  { name, launcher }: Pick<EngineEntry, 'name' | 'launcher'>,
  token: string | null,
): void {
  if (launcher?.kind !== 'ray') throw inputError('NO_CLUSTER', `"${name}" isn't started as a Ray job`);
  secrets.set(clusterName(launcher.dashboard), checked(token));
}

function checked(key: string | null): string | null {
  if (key === null || /^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw inputError('BAD_ENGINE_KEY', 'Expected a key of up to 500 visible characters without spaces');
}

function clusterName(dashboard: string): string {
  return `ray ${new URL(dashboard).origin}`;
}

function nameOf(url: string): string {
  return `engine ${new URL(url).origin}`;
}
