import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostPaths } from './host-paths.ts';

/** Braid's version, as package.json has it. */
export function version(): string {
  const file = join(dirname(hostPaths().resources), 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
