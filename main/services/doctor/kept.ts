/** The newest report, cached in the workspace: a new check takes a second of processor time. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { currentLayout, nativeFolder, readManifest } from '../../native/folder.ts';
import type { Store } from '../../store/index.ts';
import type { Check } from './check.ts';

export interface Examined {
  readonly checks: readonly Check[];
  readonly at: number;
}

const KEY = 'doctor';
const DAY_MS = 24 * 3600 * 1000;

const kept = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(['OK', 'WARN', 'FAIL']),
      detail: z.string(),
      next: z.string().nullable(),
      isOpening: z.boolean().optional(),
    }),
  ),
  at: z.number(),
  of: z.string(),
});

/** Saves the report, unless the disk is full. */
export function cacheReport(store: Pick<Store, 'settings'>, examined: Examined, version: string): void {
  try {
    store.settings.set(KEY, { ...examined, of: subject(version) });
  } catch {
    // The next page runs the checks itself.
  }
}

/** A report from this machine, version and native set-up within a day; otherwise null. */
export function cachedReport(
  store: Pick<Store, 'settings'>,
  version: string,
  now: number = Date.now(),
): Examined | null {
  const { success, data } = kept.safeParse(store.settings.get(KEY));
  if (!success || data.of !== subject(version) || now - data.at > DAY_MS) return null;
  return { checks: data.checks, at: data.at };
}

/** What the checks depend on and may change between two of them. */
function subject(version: string): string {
  return JSON.stringify([hostname(), version, readManifest(currentLayout(nativeFolder()))]);
}
