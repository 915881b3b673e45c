/** Lists the contents of a packaged app and fails on missing or unexpected files: `node scripts/check-package.ts FOLDER`. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type DirectoryRecord, getRawHeader } from '@electron/asar';
import { judge } from './package-contents.ts';

/** The files in the app's resources folder and, as `app.asar/…`, in its archive. `folder`: dist/linux-unpacked. */
export function packedFiles(folder: string): readonly string[] {
  const resources = resourcesOf(folder);
  const beside = readdirSync(resources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(resources, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const { header } = getRawHeader(join(resources, 'app.asar'));
  return [...beside, ...archived(header as DirectoryRecord, 'app.asar')].sort();
}

/** Electron's process.resourcesPath. */
export function resourcesOf(folder: string): string {
  const bundle = readdirSync(folder).find((name) => name.endsWith('.app'));
  const resources = bundle === undefined ? join(folder, 'resources') : join(folder, bundle, 'Contents/Resources');
  if (existsSync(join(resources, 'app.asar'))) return resources;
  throw new Error(`Expected a packaged app in ${folder}, but there is no app.asar in ${resources}`);
}

function archived({ files }: DirectoryRecord, path: string): readonly string[] {
  return Object.entries(files).flatMap(([name, entry]) =>
    'files' in entry ? archived(entry, `${path}/${name}`) : [`${path}/${name}`],
  );
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('Expected the folder of a packaged app, such as dist/linux-unpacked');
  const files = packedFiles(folder);
  const { surplus, missing } = judge(files);
  const onDisk = files.filter((file) => !file.startsWith('app.asar/'));
  const bytes = onDisk.reduce((sum, file) => sum + statSync(join(resourcesOf(folder), file)).size, 0);
  process.stdout.write(`${files.length} files, ${(bytes / 2 ** 20).toFixed(1)} MiB in addition to Electron\n`);
  for (const file of surplus) process.stdout.write(`unexpected: ${file}\n`);
  for (const what of missing) process.stdout.write(`missing: ${what}\n`);
  process.exitCode = surplus.length + missing.length === 0 ? 0 : 1;
}
