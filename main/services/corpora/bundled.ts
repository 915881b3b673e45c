/** The texts that come with Braid. */
import { fileURLToPath } from 'node:url';

const FILES = ['source_texts.json', 'longer_texts.json'] as const;

/** Paths of the bundled source texts. */
export function bundledTextFiles(): string[] {
  return FILES.map((name) => fileURLToPath(new URL(`../../../datasets/${name}`, import.meta.url)));
}
