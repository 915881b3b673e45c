/** Restores the window's position if its screen still exists. */
import type { BrowserWindow, Rectangle } from 'electron';
import type { Preferences, WindowPlace } from './preferences.ts';

/** Pages fit from this width on. */
export const SMALLEST = { minWidth: 640, minHeight: 450 };
const FIRST_SIZE = { width: 1360, height: 860 };
/** The part of the window that must be on a screen so that it can be found and dragged. */
const GRAB = { width: 120, height: 60 };
/** A window emits many move events while it is dragged. */
const SETTLED_MS = 400;

/** The saved position, or only its size if its screen is gone, or the default size. */
export function placeToOpen(
  remembered: WindowPlace | undefined,
  screens: readonly Rectangle[],
): Partial<Rectangle> & typeof FIRST_SIZE {
  if (remembered === undefined) return FIRST_SIZE;
  const { x, y, width, height } = remembered;
  return screens.some((screen) => isOn(screen, remembered)) ? { x, y, width, height } : { width, height };
}

function isOn(screen: Rectangle, { x, y, width }: WindowPlace): boolean {
  const across = Math.min(x + width, screen.x + screen.width) - Math.max(x, screen.x);
  // The title bar must be reachable.
  return across >= GRAB.width && y >= screen.y && y + GRAB.height <= screen.y + screen.height;
}

/** Saves the window's position as it changes. */
export function rememberPlace(window: BrowserWindow, preferences: Preferences): void {
  let timer: NodeJS.Timeout | null = null;
  const save = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (!window.isDestroyed())
      preferences.set('window', { ...window.getNormalBounds(), maximized: window.isMaximized() });
  };
  const soon = (): void => {
    timer ??= setTimeout(save, SETTLED_MS).unref();
    timer.refresh();
  };
  window.on('resize', soon);
  window.on('move', soon);
  window.on('close', save);
}
