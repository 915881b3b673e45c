/** Keys of judges and endpoints. They belong to an address, so that a task can't have them sent somewhere new. */
import { inputError } from '../../errors.ts';
import { checkedAddress } from '../../tasks/external/spec.ts';
import type { Secrets } from '../workspace/secrets.ts';

/** For machines without a key store: sent to every address that was allowed and has no key of its own. */
const REWARD_KEY = 'BRAID_REWARD_KEY';

/** The key for an address; null: none. */
export function rewardKey(
  secrets: Pick<Secrets, 'get'>,
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  return secrets.get(nameOf(address)) ?? (env[REWARD_KEY]?.trim() || null);
}

/** Keeps a key for an address; null forgets it. Returns the address that it belongs to. */
export function setRewardKey(secrets: Pick<Secrets, 'set'>, address: string, key: string | null): string {
  if (key !== null && !/^[\x21-\x7e]{1,500}$/.test(key))
    throw inputError('BAD_REWARD_KEY', 'Expected a key of up to 500 visible characters without spaces');
  secrets.set(nameOf(address), key);
  return originOf(address);
}

/** The part of an address that a key belongs to. */
export function originOf(address: string): string {
  return checkedAddress(address, true).origin;
}

function nameOf(address: string): string {
  return `reward ${originOf(address)}`;
}
