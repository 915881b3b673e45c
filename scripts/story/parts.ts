/**
 * What a story has measured so far, kept in its workspace: a story takes most of an hour, so that one which was stopped
 * continues with the part that it was in.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../main/io/atomic-write.ts';
import { type Conditions, differenceBetween } from '../kept-results.ts';

export interface Parts {
  /** What was measured under this name before, or what `work` measures now. */
  measure<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Seconds that all parts took, whenever that was. */
  seconds(): number;
}

interface KeptParts extends Conditions {
  readonly seed: number;
  readonly parts: Readonly<Record<string, { readonly value: unknown; readonly seconds: number }>>;
}

/** Opens the parts in a file; those of another seed, of other weights or options are dropped. */
export function openParts(file: string, conditions: Conditions, seed: number): Parts {
  let parts = keptParts(file, conditions, seed);
  return {
    measure: async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const known = parts[name];
      if (known !== undefined) return known.value as T;
      const began = performance.now();
      const value = await work();
      parts = { ...parts, [name]: { value, seconds: (performance.now() - began) / 1000 } };
      writeFileAtomic(file, JSON.stringify({ ...conditions, seed, parts } satisfies KeptParts));
      return value;
    },
    seconds: () => Object.values(parts).reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

function keptParts(file: string, conditions: Conditions, seed: number): KeptParts['parts'] {
  if (!existsSync(file)) return {};
  const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptParts;
  return kept.seed === seed && differenceBetween(conditions, kept) === null ? kept.parts : {};
}
