/** The page's files: the built renderer, read once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { contentType } from '../api/page-types.ts';
import { BraidError } from '../errors.ts';

export interface PageFile {
  readonly body: Buffer;
  readonly type: string;
}

/** Reads the built renderer; keys are paths as in URLs, `/index.html`. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(folder, 'index.html'))) {
    throw new BraidError('NOT_BUILT', `Expected the built page in ${folder}, but there is none`, {
      remedy: 'Run npm run build once.',
    });
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = `/${relative(folder, file).split(sep).join('/')}`;
      return [path, { body: readFileSync(file), type: contentType(file) }] as const;
    }),
  );
}
