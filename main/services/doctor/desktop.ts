/** Where the app can be displayed: Electron or a browser. */

import { findProgram } from '../../io/programs.ts';
import { type Check, ok, warn } from './check.ts';
import { type ElectronPackage, electronPackage } from './electron-package.ts';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'firefox'];

export function checkDesktop(): Check[] {
  return [checkElectron(electronPackage()), checkBrowser(process.env.PATH ?? '')];
}

/** The package comes from the registry; its binary is downloaded separately, and may be missing. */
export function checkElectron(installed: ElectronPackage | null): Check {
  return { ...electron(installed), isOpening: true };
}

function electron(installed: ElectronPackage | null): Check {
  if (process.versions.electron !== undefined) return ok('Electron', `${process.versions.electron}, running`);
  const next =
    'Use Braid from the command line or in a browser, or install Electron with access to its download server.';
  if (installed === null) return warn('Electron', 'not installed', next);
  const { version, binary } = installed;
  if (binary !== null) return ok('Electron', `${version}, ${binary}`);
  return warn('Electron', `package ${version}, but its binary was not downloaded`, next);
}

/** The first browser on the PATH. */
export function checkBrowser(path: string): Check {
  return { ...browser(path), isOpening: true };
}

function browser(path: string): Check {
  const found = findProgram(BROWSERS, path);
  if (found !== undefined) return ok('Browser', found);
  // Desktops other than Linux have a browser, but not on the PATH.
  if (process.platform !== 'linux') return ok('Browser', "none on the PATH; the system's own is used");
  return warn(
    'Browser',
    'none on the PATH',
    'Open the app from another machine, or install chromium for browser tests.',
  );
}
