/**
 * Where the page keeps its light or dark between two visits. Mantine's own manager follows what other pages write: two
 * pages with different settings, one of them of a session that has ended, would answer each other's changes for ever. A page
 * learns of a new setting from its host alone, and without one it writes nothing.
 */
import { localStorageColorSchemeManager, type MantineColorSchemeManager } from '@mantine/core';
import { connection } from '../api/connection.ts';

export const colourScheme = ownColourScheme(localStorageColorSchemeManager(), () => connection.get().kind === 'open');

/** A manager over another one that shares nothing with other pages. */
export function ownColourScheme(
  kept: Pick<MantineColorSchemeManager, 'get' | 'set' | 'clear'>,
  isConnected: () => boolean,
): MantineColorSchemeManager {
  return {
    get: kept.get,
    set: (scheme) => {
      if (isConnected()) kept.set(scheme);
    },
    clear: kept.clear,
    subscribe: () => undefined,
    unsubscribe: () => undefined,
  };
}
