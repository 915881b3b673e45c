/** The transport to the host: a message port from the preload on the desktop, a WebSocket in a browser. */
import type { ClientLink } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';

type Context = Record<never, never>;

export interface Transport {
  readonly link: ClientLink<Context>;
  /** Resolves when the connection is lost. */
  readonly lost: Promise<void>;
}

/** The host refused this page: it was restarted and has a new token. */
export class SessionExpired extends Error {}

/** Connects to the host; rejects if it can't be reached. */
export function openTransport(): Promise<Transport> {
  return window.location.protocol === 'app:' ? openPort() : openSocket();
}

function openPort(): Promise<Transport> {
  return new Promise((resolve) => {
    window.addEventListener('message', function receive({ source, data, ports }) {
      const [port] = ports;
      if (source !== window || data !== 'braid:port' || port === undefined) return;
      window.removeEventListener('message', receive);
      port.start();
      const lost = new Promise<void>((end) => port.addEventListener('close', () => end()));
      resolve({ link: new PortLink<Context>({ port }), lost });
    });
    window.postMessage('braid:ready', window.location.origin);
  });
}

declare global {
  interface Window {
    /** Opened by public/early-socket.js. */
    braidSocket?: WebSocket;
  }
}

async function openSocket(): Promise<Transport> {
  // As in public/early-socket.js: relative to the page, without its hash and query.
  const address = new URL('rpc', window.location.href).href.replace(/^http/, 'ws');
  const socket = window.braidSocket ?? new WebSocket(address);
  delete window.braidSocket;
  const lost = new Promise<void>((end) => {
    if (socket.readyState >= WebSocket.CLOSING) end();
    socket.addEventListener('close', () => end());
  });
  const link = new SocketLink<Context>({ websocket: socket });
  const opened = new Promise<true>((open) => {
    if (socket.readyState === WebSocket.OPEN) open(true);
    socket.addEventListener('open', () => open(true));
  });
  if (await Promise.race([opened, lost.then(() => false)])) return { link, lost };
  // A browser doesn't say why a socket was refused; a plain request does.
  const { status } = await fetch('./index.html', { cache: 'no-store' });
  throw status === 401 ? new SessionExpired() : new Error('The app is not responding');
}
