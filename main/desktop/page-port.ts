/** Gives the contract's port to our own page in our own window, and to nothing else. */
import { ipcMain, MessageChannelMain, type WebFrameMain } from 'electron';
import type { ApiContext } from '../api/context.ts';
import { serveMessagePort } from '../api/message-port.ts';
import { PAGE_ORIGIN } from './page-path.ts';

/** Sends a port to each page that reports ready; after a reload the new page gets its own port. */
export function sendPorts(context: ApiContext): void {
  ipcMain.on('braid:ready', ({ senderFrame }) => {
    if (!isOwnPage(senderFrame)) return;
    const { port1, port2 } = new MessageChannelMain();
    serveMessagePort(port1, context);
    port1.start();
    senderFrame.postMessage('braid:port', null, [port2]);
  });
}

/** Null: the frame is gone. A frame inside a page, even ours, gets nothing. */
function isOwnPage(frame: WebFrameMain | null): frame is WebFrameMain {
  return frame !== null && frame.parent === null && frame.origin === PAGE_ORIGIN;
}
