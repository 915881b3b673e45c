/** The newest examination, kept with the workspace: to look anew takes the processor for a second. */
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
    }),
  ),
  at: z.number(),
  of: z.string(),
});

/** Keeps what was found, as far as the disk takes it. */
export function keepExamined(store: Pick<Store, 'settings'>, examined: Examined, version: string): void {
  try {
    store.settings.set(KEY, { ...examined, of: subject(version) });
  } catch {
    // The next page looks for itself.
  }
}

/** What was found on this machine within a day, by this version and with the native backend as it is now; else null. */
export function keptExamined(
  store: Pick<Store, 'settings'>,
  version: string,
  now: number = Date.now(),
): Examined | null {
  const { success, data } = kept.safeParse(store.settings.get(KEY));
  if (!success || data.of !== subject(version) || now - data.at > DAY_MS) return null;
  return { checks: data.checks, at: data.at };
}

/** What the checks depend on, and what may change between two looks. */
function subject(version: string): string {
  return JSON.stringify([hostname(), version, readManifest(currentLayout(nativeFolder()))]);
}
