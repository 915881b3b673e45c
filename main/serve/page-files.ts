/** The page's files: the built renderer, read once, with the headers that keep it to itself. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { BraidError } from '../errors.ts';

export interface PageFile {
  readonly body: Buffer;
  readonly type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Reads the built renderer; keys are paths as in URLs, `/index.html`. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(folder, 'index.html'))) {
    throw new BraidError('NOT_BUILT', `Expected the built page in ${folder}, found none`, {
      remedy: 'Run npm run build once.',
    });
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const type = TYPES[extname(entry.name)] ?? 'application/octet-stream';
      return [`/${relative(folder, file).split(sep).join('/')}`, { body: readFileSync(file), type }] as const;
    }),
  );
}
