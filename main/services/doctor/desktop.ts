/** What the app can be shown in: Electron, or a browser. */
import { type ElectronPackage, electronPackage } from '../electron-package.ts';
import { findProgram } from '../programs.ts';
import { type Check, ok, warn } from './check.ts';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'firefox'];

export function checkDesktop(): Check[] {
  return [checkElectron(electronPackage()), checkBrowser(process.env.PATH ?? '')];
}

/** The package comes from the registry; its binary is fetched from elsewhere, and may be missing. */
export function checkElectron(installed: ElectronPackage | null): Check {
  if (process.versions.electron !== undefined) return ok('Electron', `${process.versions.electron}, running`);
  const next = 'Use Braid from the command line or in a browser, or install Electron where its binary can be fetched.';
  if (installed === null) return warn('Electron', 'not installed', next);
  const { version, binary } = installed;
  if (binary !== null) return ok('Electron', `${version}, ${binary}`);
  return warn('Electron', `package ${version}, but its binary was not downloaded`, next);
}

/** The first browser on the PATH. */
export function checkBrowser(path: string): Check {
  const found = findProgram(BROWSERS, path);
  if (found !== undefined) return ok('Browser', found);
  // On a desktop other than Linux a browser is there and not on the PATH.
  if (process.platform !== 'linux') return ok('Browser', "none on the PATH; the system's own will do");
  return warn(
    'Browser',
    'none on the PATH',
    'Open the app from another machine, or install chromium for browser tests.',
  );
}
