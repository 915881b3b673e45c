/** The files of a split in a repository of the Hub, or in a folder that has its files. */
import { readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { inputError } from '../../errors.ts';
import { unpackedName } from '../../io/packed-file.ts';
import { TABLE_TYPES } from '../datasets/import/table.ts';
import type { HubDataset } from './hub-name.ts';

/** The files of a split in a folder of this machine, in order. */
export function splitFiles(folder: string, split: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep))
    // The Hub's client and Git keep their own files beside the data.
    .filter((parts) => parts.every((part) => !part.startsWith('.')))
    .map((parts) => ({ path: parts.join('/') }));
  const remedy = 'Name the split by --split, or one of the files or folders in it.';
  const own = { repo: folder, config: null, revision: '' };
  return filesOf(paths, own, split, remedy).map(({ path }) => join(folder, ...path.split('/')));
}

/** The data files of a split: by folder in the Hub's own conversion, by name elsewhere. */
export function filesOf<F extends { readonly path: string }>(
  files: readonly F[],
  { repo, config, revision }: HubDataset,
  split: string,
  remedy = `Name the config (hf:${repo}/CONFIG) and the split.`,
): F[] {
  const endingOf = (path: string): string => extname(unpackedName(path)).toLowerCase();
  const data = files.filter(({ path }) => (TABLE_TYPES as readonly string[]).includes(endingOf(path)));
  const folders = data.map((file) => ({ file, parts: file.path.split('/') }));
  const configs = [...new Set(folders.flatMap(({ parts }) => (parts.length > 1 ? (parts[0] ?? []) : [])))];
  const wanted = config ?? (configs.includes('default') ? 'default' : configs.length === 1 ? configs[0] : undefined);
  const namedAt = (parts: readonly string[]): number =>
    parts.findIndex((part) =>
      part
        .replace(/^partial-/, '')
        .split(/[._-]/)
        .includes(split),
    );
  const found = folders.filter(({ parts }) => {
    const inConfig =
      wanted === undefined || revision !== null ? config === null || parts.includes(config) : parts[0] === wanted;
    return inConfig && namedAt(parts) >= 0;
  });
  // A repository with a single data file doesn't need a split in its name.
  const chosen = found.length === 0 && data.length === 1 ? folders : found;
  // Files of several configs, or the same rows in several formats, aren't one split.
  const kinds = new Set(
    chosen.map(({ file, parts }) => `${parts.slice(0, namedAt(parts)).join('/')} ${endingOf(file.path)}`),
  );
  if (chosen.length > 0 && (revision !== null || wanted !== undefined || chosen.length === 1) && kinds.size === 1)
    // As datasets reads them, and in every language the same.
    return chosen.map(({ file }) => file).sort((a, b) => (a.path < b.path ? -1 : 1));
  const has =
    data.length === 0
      ? 'no data files'
      : (kinds.size > 1 ? chosen.map(({ file }) => file) : data)
          .slice(0, 12)
          .map(({ path }) => path)
          .join(', ');
  throw inputError(
    'HUB_NO_DATA',
    `Expected ${repo} to have files of the split "${split}"${config === null ? '' : ` of ${config}`}${kinds.size > 1 ? ' in one place and format' : ''}, got ${has}`,
    remedy,
  );
}
