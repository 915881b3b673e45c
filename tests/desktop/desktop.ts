/** The desktop app of a test: killed when the test ends. */
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Desktop, forkDesktop, type StartOptions } from './drive.ts';

export type { Call, Desktop, Page, StartOptions } from './drive.ts';

/** Starts the app; it is killed when the test ends, if it still lives. */
export function startDesktop(options: StartOptions = {}): Desktop {
  const desktop = forkDesktop({ ...options, userData: options.userData ?? temporaryFolder() });
  onTestFinished(() => void desktop.process.kill('SIGKILL'));
  return desktop;
}
