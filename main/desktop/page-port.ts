/** Hands the page its port to the contract: our own page in our own window, and nobody else. */
import { ipcMain, MessageChannelMain, type WebFrameMain } from 'electron';
import type { ApiContext } from '../api/context.ts';
import { serveMessagePort } from '../api/message-port.ts';
import { PAGE_ORIGIN } from './page-path.ts';

/** Answers each page that says it is ready; a reload is a new page with a port of its own. */
export function handPorts(context: ApiContext): void {
  ipcMain.on('braid:ready', ({ senderFrame }) => {
    if (!isOwnPage(senderFrame)) return;
    const { port1, port2 } = new MessageChannelMain();
    serveMessagePort(port1, context);
    port1.start();
    senderFrame.postMessage('braid:port', null, [port2]);
  });
}

/** Null: the frame has gone meanwhile. A frame inside a page, even ours, gets nothing. */
function isOwnPage(frame: WebFrameMain | null): frame is WebFrameMain {
  return frame !== null && frame.parent === null && frame.origin === PAGE_ORIGIN;
}
