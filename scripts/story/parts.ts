/**
 * What a story has measured so far, kept in its workspace: a story takes most of an hour, so that one which was stopped
 * or whose settings have changed continues with what it lacks.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { writeFileAtomic } from '../../main/io/atomic-write.ts';

export interface Parts {
  /**
   * What was measured under this name and with these settings before, or what `work` measures now. Settings are all
   * that decides the result: what was measured with others is kept beside it.
   */
  measure<T>(name: string, settings: object, work: () => Promise<T>): Promise<T>;
  /** Seconds that the parts asked for so far took, whenever that was. */
  seconds(): number;
  /** Which session of those that have measured something this is, from 1. */
  readonly session: number;
}

interface Part {
  readonly name: string;
  readonly settings: unknown;
  readonly value: unknown;
  readonly seconds: number;
}

interface KeptParts {
  readonly sessions: number;
  readonly parts: readonly Part[];
}

/** Opens the parts in a file. */
export function openParts(file: string): Parts {
  const { sessions, parts: before } = keptParts(file);
  const session = sessions + 1;
  const parts = [...before];
  const used = new Set<Part>();
  return {
    session,
    measure: async <T>(name: string, given: object, work: () => Promise<T>): Promise<T> => {
      const settings: unknown = JSON.parse(JSON.stringify(given));
      let part = parts.find((other) => other.name === name && isDeepStrictEqual(other.settings, settings));
      if (part === undefined) {
        const began = performance.now();
        const value = await work();
        part = { name, settings, value, seconds: (performance.now() - began) / 1000 };
        parts.push(part);
        writeFileAtomic(file, JSON.stringify({ sessions: session, parts } satisfies KeptParts));
      }
      used.add(part);
      return part.value as T;
    },
    seconds: () => [...used].reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

function keptParts(file: string): KeptParts {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<KeptParts>) : {};
  // An older version kept them by name alone, for one set of settings.
  return Array.isArray(kept.parts) ? { sessions: kept.sessions ?? 1, parts: kept.parts } : { sessions: 0, parts: [] };
}
