/** The rules for how `npm start` opens the app. Pure. */

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null if the system has no user ids. */
  readonly uid: number | null;
}

/** Why Electron can't run here, without trying; null: no known obstacle. */
export function obstacle({ platform, env, uid }: Surroundings): string | null {
  if (platform !== 'linux') return null;
  if (!hasDisplay(env)) return 'Electron needs a display and there is none';
  // Electron's sandbox doesn't work as root, and the app is never started without the sandbox.
  if (uid === 0) return "Electron's sandbox does not run as root";
  return null;
}

export interface BrowserSurroundings extends Omit<Surroundings, 'uid'> {
  /** Finds a program by its name. */
  readonly find: (name: string) => string | undefined;
}

/** The command that opens a URL in the user's browser; null: none can be opened. */
export function browserCommand(
  { platform, env, find }: BrowserSurroundings,
  url: string,
): readonly [string, ...string[]] | null {
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  const opener = hasDisplay(env) ? find('xdg-open') : undefined;
  return opener === undefined ? null : [opener, url];
}

function hasDisplay({ DISPLAY, WAYLAND_DISPLAY }: Surroundings['env']): boolean {
  return Boolean(DISPLAY || WAYLAND_DISPLAY);
}
