/** Packs the built app with electron-builder, on a substitute for Electron's distribution, which needs no network. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { extractAll } from '@electron/asar';

const root = resolve(import.meta.dirname, '../..');
/** What marks the fuses in Electron's binary; then come a version, their number, and a character each. */
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const FUSES = 9;

/** Packs into `folder`; gives the app's folder. */
export async function packApp(folder: string): Promise<string> {
  const dist = join(folder, 'electron');
  for (const part of ['locales', 'resources']) mkdirSync(join(dist, part), { recursive: true });
  writeFileSync(join(dist, 'electron'), `\x7fELF${SENTINEL}\x01${String.fromCharCode(FUSES)}${'1'.repeat(FUSES)}`);
  chmodSync(join(dist, 'electron'), 0o755);
  for (const file of ['version', 'LICENSE', 'LICENSES.chromium.html', 'locales/en-US.pak', 'locales/de.pak'])
    writeFileSync(join(dist, file), file);
  const cli = createRequire(import.meta.url).resolve('electron-builder/cli.js');
  const output = join(folder, 'packed');
  const options = ['--linux', 'dir', '--x64', `-c.electronDist=${dist}`, `-c.directories.output=${output}`];
  await promisify(execFile)(process.execPath, [cli, ...options], { cwd: root });
  return join(output, 'linux-unpacked');
}

/** The states of a binary's fuses: `1` on, `0` off. */
export function fusesOf(binary: Buffer): string {
  const at = binary.indexOf(SENTINEL) + SENTINEL.length + 2;
  return binary.toString('latin1', at, at + FUSES);
}

/** Electron reads into archives as into folders; for plain Node the archive in `resources` becomes a folder. */
export function openArchive(resources: string, folder: string): string {
  const opened = join(folder, 'resources');
  cpSync(resources, opened, { recursive: true });
  const archive = join(opened, 'app.asar');
  rmSync(archive);
  extractAll(join(resources, 'app.asar'), archive);
  return opened;
}
