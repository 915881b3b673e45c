/** What the app can be shown in: Electron, or a browser. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { type Check, ok, warn } from './check.ts';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'firefox'];

export function checkDesktop(): Check[] {
  return [checkElectron(electronFolder()), checkBrowser(process.env.PATH ?? '')];
}

function electronFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  } catch {
    return null;
  }
}

/** The package comes from the registry; its binary is fetched from elsewhere, and may be missing. */
export function checkElectron(folder: string | null): Check {
  if (process.versions.electron !== undefined) return ok('Electron', `${process.versions.electron}, running`);
  const next = 'Use Braid from the command line or in a browser, or install Electron where its binary can be fetched.';
  if (folder === null) return warn('Electron', 'not installed', next);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  const dist = process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(folder, 'dist');
  const pathFile = join(folder, 'path.txt');
  const binary = existsSync(pathFile) ? join(dist, readFileSync(pathFile, 'utf8').trim()) : null;
  if (binary !== null && existsSync(binary)) return ok('Electron', `${version}, ${binary}`);
  return warn('Electron', `package ${version}, but its binary was not downloaded`, next);
}

/** The first browser on the PATH. */
export function checkBrowser(path: string): Check {
  const places = path.split(delimiter).flatMap((folder) => BROWSERS.map((name) => join(folder, name)));
  const found = places.find(isProgram);
  if (found !== undefined) return ok('Browser', found);
  // On a desktop other than Linux a browser is there and not on the PATH.
  if (process.platform !== 'linux') return ok('Browser', "none on the PATH; the system's own will do");
  return warn(
    'Browser',
    'none on the PATH',
    'Open the app from another machine, or install chromium for browser tests.',
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
