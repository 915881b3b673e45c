/** What decides how `npm start` opens the app. Pure. */

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null where the system has no such thing. */
  readonly uid: number | null;
}

/** Why Electron can't run here, before trying; null: nothing known is in its way. */
export function obstacle({ platform, env, uid }: Surroundings): string | null {
  if (platform !== 'linux') return null;
  if (!hasDisplay(env)) return 'there is no display here, which Electron needs';
  // Its sandbox refuses, and without the sandbox the app isn't started.
  if (uid === 0) return "Electron's sandbox does not run as root";
  return null;
}

export interface BrowserSurroundings extends Omit<Surroundings, 'uid'> {
  /** Finds a program by its name. */
  readonly find: (name: string) => string | undefined;
}

/** The command that opens an address in the person's browser; null: none can be opened. */
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
