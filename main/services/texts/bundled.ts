/** The bundled texts. */
import { join } from 'node:path';

const FILES = ['source_texts.json', 'longer_texts.json'] as const;

/** Paths of the bundled source texts, given their folder. */
export function bundledTextFiles(folder: string): string[] {
  return FILES.map((name) => join(folder, name));
}
