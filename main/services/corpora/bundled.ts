/** The texts that come with Braid. */
import { join } from 'node:path';

const FILES = ['source_texts.json', 'longer_texts.json'] as const;

/** Paths of the bundled source texts, given the folder that a host ships them in. */
export function bundledTextFiles(folder: string): string[] {
  return FILES.map((name) => join(folder, name));
}
