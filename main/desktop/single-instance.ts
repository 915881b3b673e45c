/** One app per user: a second start shows the first's window and passes on its files. */
import { app } from 'electron';
import { z } from 'zod';
import { readLaunch } from './launch.ts';

export interface Instance {
  /** This start's own arguments. */
  readonly workspace: string | undefined;
  /** Calls the listener with files to open: this start's, a second start's, those dropped on the dock. */
  onFiles(listener: (files: readonly string[]) => void): void;
  /** Calls the listener at each second start, and when a file is opened. */
  onAgain(listener: () => void): void;
}

const transferred = z.object({ files: z.array(z.string()) });

/** The argument that Electron needs to find the app: in a checkout its folder, in a package nothing. */
export function ownArguments(): readonly string[] {
  return process.argv.slice(1, app.isPackaged ? 1 : 2);
}

/** Takes the single-instance lock; null: another instance has it and has been notified. */
export function lockSingleInstance(): Instance | null {
  const launch = readLaunch(process.argv.slice(1 + ownArguments().length), process.cwd());
  if (!app.requestSingleInstanceLock({ files: launch.files })) return null;
  let waiting = [...launch.files];
  let open: ((files: readonly string[]) => void) | null = null;
  let again: (() => void) | null = null;
  const take = (files: readonly string[]): void => {
    if (files.length === 0) return;
    if (open === null) waiting.push(...files);
    else open(files);
  };
  // macOS reports files by an event, even before the app is ready.
  app.on('open-file', (event, file) => {
    event.preventDefault();
    take([file]);
    again?.();
  });
  app.on('second-instance', (_event, _argv, _cwd, data) => {
    // Chromium mixes its own switches into the second instance's arguments; the additional data is exact.
    const told = transferred.safeParse(data);
    if (told.success) take(told.data.files);
    again?.();
  });
  return {
    workspace: launch.workspace,
    onFiles: (listener) => {
      open = listener;
      const files = waiting;
      waiting = [];
      take(files);
    },
    onAgain: (listener) => {
      again = listener;
    },
  };
}
