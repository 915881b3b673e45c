/** Restarts the app with other arguments. */
import { spawn } from 'node:child_process';
import { app, dialog } from 'electron';
import { ownAppImage } from './app-image.ts';

/** Quits and starts again; call it when everything is saved. */
export async function restart(args: readonly string[]): Promise<void> {
  const image = ownAppImage();
  if (image === null) app.relaunch({ args: [...args] });
  else await startImage(image, args);
  app.quit();
}

/** Electron's relaunch starts the program in the mount, which is gone by then: the image's file is started instead. */
async function startImage(image: string, args: readonly string[]): Promise<void> {
  // Otherwise the new process would find this one's lock and exit.
  app.releaseSingleInstanceLock();
  const child = spawn(image, [...args], { detached: true, stdio: 'ignore' });
  try {
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
  } catch (error) {
    dialog.showErrorBox(
      'Braid could not restart',
      `Everything is saved. Start Braid again: it opens the workspace that you chose.\n\n${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
