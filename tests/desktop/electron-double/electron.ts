/** A double of Electron's main-process module, as small as our code allows; its shapes are checked against Electron's. */
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type * as Electron from 'electron';
import { obey } from './orders.ts';
import { MessageChannelMain } from './ports.ts';
import { called, options, report } from './report.ts';
import { utilityProcess } from './utility-process.ts';
import { BrowserWindow, hooks, screen, windows } from './windows.ts';

/** Methods of one of Electron's modules that our code calls, with its signatures. */
type Methods<T> = Partial<Omit<T, keyof EventEmitter>>;

let quitting = false;

const app = Object.assign(new EventEmitter(), {
  isPackaged: options.packed !== null,
  enableSandbox: () => called('app.enableSandbox'),
  whenReady: async () => {
    await turn();
    called('app.ready');
  },
  commandLine: {
    hasSwitch: (name: string) => process.argv.includes(`--${name}`),
  } as Electron.CommandLine,
  getVersion: () => '0.0.0-double',
  getPath: (name: string) => join(options.userData, name === 'userData' ? '' : name),
  requestSingleInstanceLock: (data?: object) => {
    called('app.requestSingleInstanceLock', data);
    return options.first;
  },
  releaseSingleInstanceLock: () => called('app.releaseSingleInstanceLock'),
  relaunch: (given?: Electron.RelaunchOptions) => called('app.relaunch', given),
  setAboutPanelOptions: () => undefined,
  quit: () => {
    called('app.quit');
    quitting = true;
    let prevented = false;
    app.emit('before-quit', { preventDefault: () => (prevented = true) });
    for (const window of prevented ? [] : windows) window.close();
    if (windows.size === 0 && !prevented) app.exit(0);
    else quitting = false;
  },
  exit: (code = 0) => report({ kind: 'call', name: 'app.exit', args: [code] }, () => process.exit(code)),
} satisfies Methods<Electron.App>);

hooks.contentsCreated = (contents) => void app.emit('web-contents-created', {}, contents);
hooks.allClosed = () => void (quitting || app.emit('window-all-closed'));

const answers = { boxes: [...options.answers], chosen: options.chosen.map((paths) => [...paths]) };

const dialog = {
  showMessageBox: async (...given: unknown[]) => {
    const [box] = given.slice(-1);
    called('dialog.showMessageBox', box);
    const { cancelId = 0 } = box as Electron.MessageBoxOptions;
    return { response: answers.boxes.shift() ?? cancelId, checkboxChecked: false };
  },
  showOpenDialog: async (...given: unknown[]) => {
    called('dialog.showOpenDialog', given.at(-1));
    const filePaths = answers.chosen.shift();
    return { canceled: filePaths === undefined, filePaths: filePaths ?? [] };
  },
  showErrorBox: (title: string, content: string) => called('dialog.showErrorBox', title, content),
} satisfies Methods<Electron.Dialog>;

const session = {
  defaultSession: Object.assign(new EventEmitter(), {
    setPermissionRequestHandler: (handler) => {
      held.permissionRequest = handler;
    },
    setPermissionCheckHandler: (handler) => {
      held.permissionCheck = handler;
    },
    setDevicePermissionHandler: (handler) => {
      held.device = handler;
    },
    webRequest: {
      onBeforeRequest: (filter: Electron.WebRequestFilter, listener: (...given: never[]) => void) => {
        held.request = { urls: filter.urls ?? [], listener };
      },
    } as unknown as Electron.WebRequest,
  } satisfies Methods<Electron.Session>),
};

/** What our code registered, for orders to call. */
export const held: {
  permissionRequest: Parameters<Electron.Session['setPermissionRequestHandler']>[0];
  permissionCheck: Parameters<Electron.Session['setPermissionCheckHandler']>[0];
  device: Parameters<Electron.Session['setDevicePermissionHandler']>[0];
  request: { readonly urls: readonly string[]; readonly listener: (...given: never[]) => void } | null;
  scheme: ((request: Request) => Response | Promise<Response>) | null;
  menu: Electron.MenuItemConstructorOptions[];
  notifications: EventEmitter[];
} = {
  permissionRequest: null,
  permissionCheck: null,
  device: null,
  request: null,
  scheme: null,
  menu: [],
  notifications: [],
};

const protocol = {
  registerSchemesAsPrivileged: (schemes) => called('protocol.registerSchemesAsPrivileged', schemes),
  handle: (_scheme: string, handler: (request: Request) => Response | Promise<Response>) => {
    held.scheme = handler;
  },
} satisfies Methods<Electron.Protocol>;

const Menu = {
  buildFromTemplate: (template: Electron.MenuItemConstructorOptions[]) => {
    held.menu = template.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
    return { getMenuItemById: (id: string) => held.menu.find((item) => item.id === id) ?? null };
  },
  setApplicationMenu: () => called('Menu.setApplicationMenu'),
};

class Notification extends EventEmitter {
  readonly #given: Electron.NotificationConstructorOptions;

  constructor(given: Electron.NotificationConstructorOptions) {
    super();
    this.#given = given;
  }

  static isSupported(): boolean {
    return true;
  }

  show(): void {
    held.notifications.push(this);
    called('notification.show', this.#given);
  }
}

let blockers = 0;
const powerSaveBlocker = {
  start: (type) => {
    called('powerSaveBlocker.start', type);
    return ++blockers;
  },
  stop: (id) => {
    called('powerSaveBlocker.stop', id);
    return true;
  },
} satisfies Methods<Electron.PowerSaveBlocker>;

const shell = {
  openExternal: async (url) => called('shell.openExternal', url),
  openPath: async (path) => {
    called('shell.openPath', path);
    return '';
  },
  showItemInFolder: (path) => called('shell.showItemInFolder', path),
} satisfies Methods<Electron.Shell>;

const nativeTheme = { shouldUseDarkColors: false, themeSource: 'system' } satisfies Methods<Electron.NativeTheme>;

const safeStorage = {
  isEncryptionAvailable: () => true,
  getSelectedStorageBackend: () => 'gnome_libsecret',
  encryptString: (text) => Buffer.from(`sealed ${text}`),
  decryptString: (bytes) => bytes.toString().replace(/^sealed /, ''),
} satisfies Methods<Electron.SafeStorage>;

const ipcMain = new EventEmitter();

// Electron's arguments don't name the entry; a checkout's name the app's folder instead.
process.argv.splice(1, 1);
if (options.packed !== null) Object.assign(process, { resourcesPath: options.packed });
obey({ app, ipcMain, held, answers, session: session.defaultSession });

export {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  MessageChannelMain,
  Notification,
  nativeTheme,
  powerSaveBlocker,
  protocol,
  safeStorage,
  screen,
  session,
  shell,
  utilityProcess,
};

// electron-store asks for the default export.
// biome-ignore lint/style/noDefaultExport: Electron has one
export default { app, ipcMain, shell };
