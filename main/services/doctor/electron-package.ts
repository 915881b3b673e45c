/** The Electron of this checkout: a registry package whose binary is downloaded separately. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface ElectronPackage {
  readonly folder: string;
  readonly version: string;
  /** Null: not downloaded. */
  readonly binary: string | null;
}

/** The installed package; null if there is none, as in the packaged app. */
export function electronPackage(): ElectronPackage | null {
  try {
    return readElectronPackage(dirname(createRequire(import.meta.url).resolve('electron/package.json')));
  } catch {
    return null;
  }
}

/** Reads the package in a folder. ELECTRON_OVERRIDE_DIST_PATH overrides the binary's folder, as in Electron. */
export function readElectronPackage(folder: string): ElectronPackage {
  const elsewhere = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  const pathFile = join(folder, 'path.txt');
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : elsewhere && 'electron';
  const binary = name ? join(elsewhere || join(folder, 'dist'), name) : null;
  return { folder, version, binary: binary !== null && existsSync(binary) ? binary : null };
}
