/** What the test orders: events of the desktop, of the page and of the person. */
import type { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import type { held as Held } from './electron.ts';
import { handedPort } from './ports.ts';
import { report } from './report.ts';
import { desktop, frameDouble, windows } from './windows.ts';
import type { Order, Target } from './wire.ts';

export interface Commanded {
  readonly app: EventEmitter;
  readonly ipcMain: EventEmitter;
  readonly session: EventEmitter;
  readonly held: typeof Held;
  readonly answers: { boxes: number[]; chosen: string[][] };
}

/** Carries out the test's orders as they come. */
export function obey(commanded: Commanded): void {
  process.on('message', ({ id, order }: { readonly id: number; readonly order: Order }) => {
    void Promise.resolve(carryOut(order, commanded)).then((value) => report({ kind: 'done', id, value }));
  });
}

function carryOut(order: Order, { app, ipcMain, held, answers }: Commanded): unknown {
  const [window] = windows;
  switch (order.kind) {
    case 'emit':
      return emit(targetOf(order.target, app), order.event, order.args);
    case 'frame-ready':
      return void ipcMain.emit('braid:ready', { senderFrame: frameDouble(order.frame) });
    case 'port':
      return handedPort(order.port)?.postMessage(order.data);
    case 'close-port':
      return handedPort(order.port)?.close();
    case 'menu':
      return clickMenu(held.menu, order.label);
    case 'fetch':
      return fetchPage(held.scheme, order.url, order.method);
    case 'permission':
      return askPermission(held, order.name, order.url);
    case 'open-window':
      return window?.webContents.openHandler?.({ url: order.url } as Electron.HandlerDetails);
    case 'request':
      return isCancelled(held.request, order.url);
    case 'answer':
      answers.boxes.push(...order.answers);
      answers.chosen.push(...order.chosen.map((paths) => [...paths]));
      return;
    case 'focus':
      desktop.focused = order.focused;
      return;
    case 'click-notification':
      return void held.notifications[order.index]?.emit('click');
  }
}

function targetOf(target: Target, app: EventEmitter): EventEmitter | undefined {
  const [window] = windows;
  return target === 'app' ? app : target === 'window' ? window : window?.webContents;
}

/** Returns whether a listener of a plain event prevented it. `moved` and `close` are user actions on the window. */
function emit(target: EventEmitter | undefined, event: string, args: readonly unknown[]): boolean {
  const [window] = windows;
  let prevented = false;
  if (target === window && event === 'close') window?.close();
  else if (target === window && event === 'moved') window?.moveTo(args[0] as Electron.Rectangle);
  else target?.emit(event, { preventDefault: () => (prevented = true) }, ...args);
  return prevented;
}

function clickMenu(menu: readonly Electron.MenuItemConstructorOptions[], label: string): unknown {
  const item = menu.find((entry) => entry.label === label);
  if (item === undefined || item.enabled === false) return { enabled: item?.enabled ?? null };
  (item.click as () => void)();
  return { enabled: true };
}

async function fetchPage(handler: (typeof Held)['scheme'], url: string, method: string): Promise<unknown> {
  const response = await handler?.({ url, method } as Request);
  if (response === undefined) return null;
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

async function askPermission(held: typeof Held, name: string, url: string): Promise<unknown> {
  const permission = name as 'media';
  const requested = await new Promise((resolve) =>
    held.permissionRequest?.({} as Electron.WebContents, permission, resolve, {
      requestingUrl: url,
    } as Electron.PermissionRequest),
  );
  const details = {} as Electron.PermissionCheckHandlerHandlerDetails;
  return {
    requested,
    checked: held.permissionCheck?.(null, permission, url, details),
    device: held.device?.({} as Electron.DevicePermissionHandlerHandlerDetails),
  };
}

/** Whether a request of the page to this address is stopped, by the patterns that were registered. */
function isCancelled(registered: (typeof Held)['request'], url: string): unknown {
  const schemes = registered?.urls.map((pattern) => pattern.slice(0, pattern.indexOf(':') + 1)) ?? [];
  if (!schemes.includes(new URL(url).protocol)) return false;
  let cancelled: unknown = false;
  const answer = ({ cancel }: Electron.CallbackResponse): void => {
    cancelled = cancel;
  };
  registered?.listener({ url } as never, answer as never);
  return cancelled;
}
