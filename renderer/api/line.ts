/** The line to the host: a port that the preload hands over on the desktop, a WebSocket in a browser. */
import type { ClientLink } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';

type Context = Record<never, never>;

export interface Line {
  readonly link: ClientLink<Context>;
  /** Settles when the line is lost. */
  readonly lost: Promise<void>;
}

/** The host answered and did not let this page in: another start of it, with another token. */
export class TurnedAway extends Error {}

/** Opens a line, or rejects when the host can't be reached. */
export function openLine(): Promise<Line> {
  return window.location.protocol === 'app:' ? desktopLine() : socketLine();
}

function desktopLine(): Promise<Line> {
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
    /** Of public/early-line.js. */
    braidSocket?: WebSocket;
  }
}

async function socketLine(): Promise<Line> {
  const socket = window.braidSocket ?? new WebSocket(`ws://${window.location.host}/rpc`);
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
  throw status === 401 ? new TurnedAway() : new Error('The app does not answer');
}
