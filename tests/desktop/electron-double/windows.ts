/** Windows and what is in them. */
import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import { handOver, type MessagePortMain } from './ports.ts';
import { called, options } from './report.ts';
import type { FrameKind } from './wire.ts';

/** What our code asks of a window and its contents; the types are Electron's. */
type WindowMethods = Pick<
  Electron.BrowserWindow,
  | 'close'
  | 'focus'
  | 'getNormalBounds'
  | 'hide'
  | 'isDestroyed'
  | 'isFocused'
  | 'isMaximized'
  | 'isMinimized'
  | 'isVisible'
  | 'loadURL'
  | 'maximize'
  | 'restore'
  | 'setProgressBar'
  | 'show'
>;
type ContentsMethods = Pick<Electron.WebContents, 'reload' | 'setWindowOpenHandler'>;
type OpenHandler = Parameters<ContentsMethods['setWindowOpenHandler']>[0];

export const windows = new Set<BrowserWindow>();
/** Set by app.ts, which knows who listens. */
export const hooks = {
  contentsCreated: (_contents: WebContents): void => undefined,
  allClosed: (): void => undefined,
};
export const desktop = { focused: true };

export class WebContents extends EventEmitter implements ContentsMethods {
  openHandler: OpenHandler | null = null;

  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }

  reload(): void {
    called('contents.reload');
  }
}

export class BrowserWindow extends EventEmitter implements WindowMethods {
  readonly webContents = new WebContents();
  #bounds: Electron.Rectangle;
  #visible = false;
  #destroyed = false;
  #maximized = false;

  constructor(given: Electron.BrowserWindowConstructorOptions) {
    super();
    called('BrowserWindow', given);
    const { x = 0, y = 0, width = 800, height = 600 } = given;
    this.#bounds = { x, y, width, height };
    this.#visible = given.show !== false;
    windows.add(this);
    hooks.contentsCreated(this.webContents);
  }

  async loadURL(url: string): Promise<void> {
    called('window.loadURL', url);
    setImmediate(() => this.emit('ready-to-show'));
  }

  /** A person moves it. */
  moveTo(bounds: Electron.Rectangle): void {
    this.#bounds = bounds;
    this.emit('move');
  }

  /** As there: a listener may prevent it. */
  close(): void {
    let prevented = false;
    this.emit('close', { preventDefault: () => (prevented = true) });
    if (prevented) return;
    this.#destroyed = true;
    windows.delete(this);
    if (windows.size === 0) hooks.allClosed();
  }

  show(): void {
    called('window.show');
    this.#visible = true;
    this.emit('show');
  }

  hide(): void {
    called('window.hide');
    this.#visible = false;
    this.emit('hide');
  }

  maximize(): void {
    called('window.maximize');
    this.#maximized = true;
  }

  setProgressBar(share: number, given?: Electron.ProgressBarOptions): void {
    called('window.setProgressBar', share, given);
  }

  focus(): void {
    called('window.focus');
  }

  restore(): void {
    called('window.restore');
  }

  getNormalBounds(): Electron.Rectangle {
    return this.#bounds;
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  isFocused(): boolean {
    return desktop.focused;
  }

  isMaximized(): boolean {
    return this.#maximized;
  }

  isMinimized(): boolean {
    return false;
  }

  isVisible(): boolean {
    return this.#visible;
  }
}

/** A frame of the page: what it is sent goes to the test. */
export function frameDouble(kind: FrameKind): Electron.WebFrameMain | null {
  if (kind === null) return null;
  const frame = {
    origin: kind.origin,
    parent: kind.inside ? ({} as Electron.WebFrameMain) : null,
    postMessage: (channel: string, _message: unknown, transfer: MessagePortMain[]) =>
      called('frame.postMessage', channel, transfer.map(handOver)),
  };
  return frame as unknown as Electron.WebFrameMain;
}

export const screen = {
  getAllDisplays: () => options.screens.map((workArea) => ({ workArea }) as Electron.Display),
} satisfies Partial<Electron.Screen>;
