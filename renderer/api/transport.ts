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

/** The host refused this page: it was restarted and has a new token, or the browser has lost its cookie. */
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
  const early = window.braidSocket;
  delete window.braidSocket;
  const transport = await openSocketOf(window.location.href, early);
  if (transport !== null) return transport;
  // A browser doesn't say why a socket was refused; a plain request does.
  const { status } = await fetch('./index.html', { cache: 'no-store' });
  throw status === 401 ? new SessionExpired() : new Error('The app is not responding');
}

/** Opens the socket of the page at an address, unless it is open already; null if it is refused. */
async function openSocketOf(page: string, early?: WebSocket): Promise<Transport | null> {
  // As in public/early-socket.js: relative to the page, without its hash and query.
  const socket = early ?? new WebSocket(new URL('rpc', page).href.replace(/^http/, 'ws'));
  const lost = new Promise<void>((end) => {
    if (socket.readyState >= WebSocket.CLOSING) end();
    socket.addEventListener('close', () => end());
  });
  const link = new SocketLink<Context>({ websocket: socket });
  const opened = new Promise<true>((open) => {
    if (socket.readyState === WebSocket.OPEN) open(true);
    socket.addEventListener('open', () => open(true));
  });
  return (await Promise.race([opened, lost.then(() => false)])) ? { link, lost } : null;
}

/** A connection to the session of the page at `page`, which isn't this page's yet. */
export interface NewSession {
  readonly page: string;
  readonly transport: Transport;
}

/** Opens a session by the address that `braid serve` printed; of it, only the token counts. */
export async function openSession(printed: string): Promise<NewSession> {
  const token = URL.parse(printed.trim())?.searchParams.get('token') ?? null;
  if (token === null) throw new Error('Expected an address such as http://127.0.0.1:4127/?token=…');
  const entry = new URL(`/?${new URLSearchParams({ token })}`, window.location.href);
  // Sets the cookie, and leads to the new page.
  const { ok, url } = await fetch(entry, { cache: 'no-store' });
  const transport = ok ? await openSocketOf(url) : null;
  if (transport === null) throw new Error(REFUSED);
  return { page: url, transport };
}

const REFUSED =
  'This address is of another start of Braid, or of one at another port. Use the newest, or open it in a new tab.';
