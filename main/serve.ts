/** The app without Electron: http and one WebSocket per page, on 127.0.0.1 only, for any browser on this machine. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ApiContext } from './api/context.ts';
import { contentSecurityPolicy } from './api/page-policy.ts';
import { serveWebSocket } from './api/websocket.ts';
import { inputError } from './errors.ts';
import { checkNames, checkToken, type Knock, parseTarget, type Verdict } from './serve/gate.ts';
import { type PageFile, readPageFiles } from './serve/page-files.ts';
import { openMemoryRelease } from './serve/release-memory.ts';
import { SIGN_IN_POLICY, signInPage } from './serve/sign-in.ts';
import { logFault } from './services/workspace/stray-faults.ts';

export interface ServeOptions {
  readonly context: ApiContext;
  /** The built renderer. */
  readonly page: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface Serving {
  readonly port: number;
  /** Includes the token: anyone who has it can use the app. */
  readonly url: string;
  close(): Promise<void>;
}

/** The largest message from a page: a dropped text file of 64 MiB, in base64. */
const MAX_MESSAGE = 96 * 2 ** 20;

/** Serves the app until closed. */
export async function serve({ context, page, port: wanted }: ServeOptions): Promise<Serving> {
  const files = readPageFiles(page);
  const token = randomBytes(24).toString('base64url');
  // Cookies aren't separated by port: two servers on one machine must not overwrite each other's.
  const cookieName = `braid-${randomBytes(6).toString('hex')}`;
  // Nor is a cookie kept from another user's server on this host name, unless it belongs to a path nobody else knows.
  const base = `/${randomBytes(12).toString('base64url')}/`;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
  const releaseMemory = openMemoryRelease();
  const server = createServer((request, response) => {
    try {
      respond(response, route(request));
    } catch (error) {
      logFault('A request to braid serve', error);
      response.destroy();
    }
  });
  server.on('upgrade', (request, socket, head) => {
    // Node takes its own listener off: without one, a client that resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    try {
      upgrade(request, socket, head);
    } catch (error) {
      logFault('A WebSocket request to braid serve', error);
      socket.destroy();
    }
  });

  function admit(request: IncomingMessage, url: URL, originNeeded: boolean): Verdict {
    const { host, origin, cookie } = request.headers;
    const knock: Knock = { host, origin, cookie, token: url.searchParams.get('token') };
    const names = checkNames(knock, originNeeded);
    return names.kind === 'in' ? checkToken(knock, token, cookieName) : names;
  }

  function admitSocket(request: IncomingMessage): Verdict {
    const url = parseTarget(request.url);
    if (url === null) return { kind: 'out', status: 400, why: 'Expected a path' };
    // Before the path: without the token, no answer may tell which path is ours.
    const verdict = admit(request, url, true);
    if (verdict.kind === 'out' || url.pathname === `${base}rpc`) return verdict;
    return { kind: 'out', status: 404, why: "Expected the path of the page's socket" };
  }

  function route(request: IncomingMessage): Reply {
    const url = parseTarget(request.url);
    if (url === null) return refusal(400, 'Expected a path such as /, got something that is not one');
    const verdict = admit(request, url, false);
    if (verdict.kind === 'out') return refusal(verdict.status, verdict.why);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, 'Expected GET');
    if (url.searchParams.has('token')) return entry(`${cookieName}=${token}`, base);
    const path = url.pathname === base ? '/index.html' : url.pathname.slice(base.length - 1);
    const file = url.pathname.startsWith(base) ? files.get(path) : undefined;
    if (file === undefined) return refusal(404, `Expected a file of the page, got ${url.pathname}`);
    return fileReply(file, request.headers.host ?? '', path.startsWith('/assets/'));
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const verdict = admitSocket(request);
    if (verdict.kind === 'out') {
      // Nobody else ends it: a client that keeps its half open would keep this server from closing, and runs from being saved.
      socket.end(`HTTP/1.1 ${verdict.status} Refused\r\nConnection: close\r\n\r\n`, () => socket.destroy());
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      // What goes wrong on a socket closes it; the page opens another.
      opened.on('error', () => {
        opened.terminate();
        releaseMemory(MAX_MESSAGE);
      });
      opened.on('message', (data: Buffer) => releaseMemory(data.length));
      serveWebSocket(opened, context);
    });
  }

  const port = await listen(server, wanted);
  return {
    port,
    url: `http://127.0.0.1:${port}/?token=${token}`,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

function respond(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { ...headers, 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' });
  response.end(body);
}

/** Moves the token from the address bar to a cookie that scripts can't read and that is sent below `base` only. */
function entry(cookie: string, base: string): Reply {
  const headers = { Location: base, 'Set-Cookie': `${cookie}; HttpOnly; SameSite=Strict; Path=${base}` };
  return { status: 302, headers: { ...headers, 'Cache-Control': 'no-store' }, body: '' };
}

function fileReply({ body, type }: PageFile, host: string, hashed: boolean): Reply {
  const headers = {
    'Content-Type': type,
    'Content-Security-Policy': contentSecurityPolicy([`ws://${host}`]),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': hashed ? 'private, max-age=31536000, immutable' : 'no-store',
  };
  return { status: 200, headers, body };
}

function refusal(status: number, why: string): Reply {
  if (status === 401) return signIn(why);
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers, body: `${why}.\n` };
}

/** What a browser shows after a restart, whose token is a new one. */
function signIn(why: string): Reply {
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status: 401, headers: { ...headers, 'Content-Security-Policy': SIGN_IN_POLICY }, body: signInPage(why) };
}

function listen(server: Server, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      const message = `Port ${wanted} can't be opened (${error.code})`;
      reject(taken ? inputError('PORT_TAKEN', message, 'Choose another port with --port.') : error);
    });
    server.listen(wanted, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
