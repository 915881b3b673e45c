/** An AppImage runs from a mount that goes away with the process. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/** What an AppImage's runtime sets: its file, and its mount. Other programs that it starts inherit both. */
export interface AppImageEnvironment {
  readonly APPIMAGE?: string | undefined;
  readonly APPDIR?: string | undefined;
}

/** The AppImage that this program runs from; null: none, also where a terminal or an editor runs from its own. */
export function ownAppImage(
  { APPIMAGE: image, APPDIR: mount }: AppImageEnvironment = process.env,
  program: string = process.execPath,
): string | null {
  if (!image || !mount) return null;
  try {
    return realpathSync(program).startsWith(realpathSync(mount) + sep) ? image : null;
  } catch {
    // The mount of an AppImage that has ended.
    return null;
  }
}
