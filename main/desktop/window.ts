/** The one window. */
import { BrowserWindow, nativeTheme, screen } from 'electron';
import { PAGE_URL } from './page-path.ts';
import type { DesktopPaths } from './paths.ts';
import type { Preferences } from './preferences.ts';
import { placeToOpen, rememberPlace, SMALLEST } from './window-place.ts';

/** The page's background colour, so that nothing flashes before it is drawn (renderer/theme/tokens.css). */
const PAPER = { light: '#faf9f6', dark: '#131416' };
/** A page that crashes again within this time isn't reloaded. */
const RELOAD_AFTER_MS = 10_000;

/** Opens the window at its last position and loads the page. */
export function openWindow({ preload, icon }: DesktopPaths, preferences: Preferences): BrowserWindow {
  const remembered = preferences.get('window');
  const screens = screen.getAllDisplays().map(({ workArea }) => workArea);
  const window = new BrowserWindow({
    ...placeToOpen(remembered, screens),
    ...SMALLEST,
    title: 'Braid',
    icon,
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? PAPER.dark : PAPER.light,
    webPreferences: {
      preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false,
      navigateOnDragDrop: false,
      // Chromium would download dictionaries.
      spellcheck: false,
    },
  });
  window.once('ready-to-show', () => {
    if (remembered?.maximized === true) window.maximize();
    window.show();
  });
  rememberPlace(window, preferences);
  reviveOnCrash(window);
  void window.loadURL(PAGE_URL);
  return window;
}

/** Brings the window to the front, even if minimised or hidden. */
export function showWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

/** The page has no state of its own: a reloaded one shows the same. */
function reviveOnCrash(window: BrowserWindow): void {
  let last = Number.NEGATIVE_INFINITY;
  window.webContents.on('render-process-gone', (_, { reason }) => {
    const now = performance.now();
    if (reason === 'clean-exit' || now - last < RELOAD_AFTER_MS) return;
    last = now;
    window.webContents.reload();
  });
}
