import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { checkNames } from '../../main/serve/gate.ts';
import { serve } from '../../main/serve.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { enterPage } from './page-entry.ts';
import { contextOf, openTinyApp, serveForTest } from './transports.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A request with any headers: fetch would not send a foreign Host. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** How an attempt at a socket ends: `open`, or the status that refused it. */
function knock(port: number, headers: Record<string, string>, path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve('open');
    });
    socket.on('error', (error) => resolve(error.message));
  });
}

/** Sends a request line as it stands, which Node's own client would refuse to, and gives the status line. */
function sendRaw(port: number, target: string, headers = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`),
    );
    socket.setEncoding('utf8').on('error', reject);
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
    socket.on('data', (part: string) => {
      text += part;
      socket.destroy();
    });
  });
}

/** What `new URL` throws on, and what it would take for another host. */
const BAD_TARGETS = [
  '//',
  '//[',
  'http://[',
  '//:99999',
  '//a%00b/',
  '//evil.example/rpc',
  'http://evil.example/',
  '*',
];

async function open() {
  const app = openTinyApp(await tinyWorkspace());
  const serving = await serveForTest(contextOf(app));
  const { page, socket, headers } = await enterPage(serving.url);
  return { app, serving, headers, port: serving.port, base: new URL(page).pathname, rpc: new URL(socket).pathname };
}

describe('braid serve', () => {
  it('admits requests with the token, removes it from the address, and sends the page with its policy', async () => {
    const { serving, headers, port, base, rpc } = await open();
    const entered = await ask(port, new URL(serving.url).pathname + new URL(serving.url).search);
    expect(entered).toMatchObject({ status: 302, headers: { location: base } });
    expect(base).toMatch(/^\/[\w-]{16}\/$/);
    expect(String(entered.headers['set-cookie'])).toContain(`; HttpOnly; SameSite=Strict; Path=${base}`);
    const page = await ask(port, base, headers);
    expect(page.status).toBe(200);
    expect(page.body).toContain('Page of a test');
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' ws://127.0.0.1:${port};`);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await ask(port, `${base}assets/code.js`, headers)).headers['content-type']).toContain('text/javascript');
    expect(await knock(port, headers, rpc)).toBe('open');
  });

  it('works through a tunnel with another port', async () => {
    const { headers, port, base, rpc } = await open();
    const through = { Cookie: headers.Cookie ?? '', Host: 'localhost:8080', Origin: 'http://localhost:8080' };
    expect((await ask(port, base, through)).status).toBe(200);
    expect(await knock(port, through, rpc)).toBe('open');
  });

  it('rejects a missing and a stale token with a message', async () => {
    const { headers, port, base, rpc } = await open();
    const { Origin = '' } = headers;
    expect(await ask(port, '/')).toMatchObject({
      status: 401,
      body: expect.stringContaining('<code>braid serve</code> printed'),
    });
    expect((await ask(port, '/?token=guess')).status).toBe(401);
    expect((await ask(port, `${base}index.html`, { Cookie: `${headers.Cookie}x` })).status).toBe(401);
    expect(await knock(port, { Origin }, rpc)).toContain('401');
    const other = await open();
    expect(await knock(port, { Origin, Cookie: other.headers.Cookie ?? '' }, rpc)).toContain('401');
  });

  it('is below a path that is random at each start and has no answer without the token', async () => {
    const { headers, port, base, rpc } = await open();
    const { Cookie = '', Origin = '' } = headers;
    const other = await open();
    expect(other.base).not.toBe(base);
    // Right and wrong paths get the same refusal.
    const refusals = await Promise.all(['/', base, `${base}index.html`, other.base].map((path) => ask(port, path)));
    expect(new Set(refusals.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(refusals[0]?.status).toBe(401);
    for (const path of [rpc, '/rpc', other.rpc]) expect(await knock(port, { Origin }, path)).toContain('401');
    // With it, nothing is outside of that path.
    for (const path of ['/', '/index.html', '/assets/code.js', base.slice(0, -1), other.base])
      expect((await ask(port, path, { Cookie })).status, path).toBe(404);
    for (const path of ['/rpc', other.rpc, `${rpc}/`]) expect(await knock(port, headers, path)).toContain('404');
  });

  it('rejects a foreign host and a foreign origin, even with the token', async () => {
    const { headers, port, base, rpc } = await open();
    const { Cookie = '', Origin = '' } = headers;
    expect((await ask(port, base, { ...headers, Host: 'evil.example' })).status).toBe(403);
    expect((await ask(port, base, { ...headers, Host: `127.0.0.1.evil.example:${port}` })).status).toBe(403);
    expect((await ask(port, base, { Cookie, Origin: 'http://evil.example' })).status).toBe(403);
    expect(await knock(port, { Cookie, Origin: 'http://evil.example' }, rpc)).toContain('403');
    expect(await knock(port, { Cookie }, rpc)).toContain('403');
    expect(await knock(port, { Cookie, Origin: Origin.replace('http', 'https') }, rpc)).toContain('403');
    expect(await knock(port, { Cookie, Origin, Host: 'evil.example' }, rpc)).toContain('403');
    expect(checkNames({ host: undefined, origin: undefined, cookie: undefined, token: null }, false).kind).toBe('out');
  });

  it('serves only the page: no other file, no other method, no other socket', async () => {
    const { headers, port, base } = await open();
    for (const path of ['../package.json', '%2e%2e/package.json', 'assets/../../gate.ts', 'braid.db'])
      expect((await ask(port, base + path, headers)).status).toBe(404);
    expect((await ask(port, base, headers, 'POST')).status).toBe(405);
    expect(await knock(port, headers, `${base}other`)).toContain('404');
  });

  it("answers 400 to targets that aren't paths, without a token and on sockets too, and stays up", async () => {
    const { headers, port, base } = await open();
    const socket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    for (const target of BAD_TARGETS) {
      expect(await sendRaw(port, target), target).toBe('HTTP/1.1 400 Bad Request');
      expect(await sendRaw(port, target, socket), target).toContain('HTTP/1.1 400');
    }
    expect((await ask(port, base, headers)).status).toBe(200);
  });

  it('outlives clients that ask for a socket and reset the connection', async () => {
    const { headers, port, base } = await open();
    const reset = () =>
      new Promise<void>((done) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write('GET /other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
          setImmediate(() => socket.resetAndDestroy());
        });
        socket.on('error', () => undefined).on('close', () => done());
      });
    await Promise.all(Array.from({ length: 50 }, reset));
    expect((await ask(port, base, headers)).status).toBe(200);
  });

  it('closes although a client that was refused a socket keeps its half of the connection', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const page = join(import.meta.dirname, 'page');
    const serving = await serve({ context: contextOf(app), page, port: 0 });
    const client = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const answer = await new Promise((resolve) => client.once('data', (data: Buffer) => resolve(String(data))));
    expect(answer).toMatch(/^HTTP\/1.1 403 Refused/);
    await serving.close();
  }, 10_000);

  it('closes a socket that sends too much or nonsense, in silence, and keeps serving the others', async () => {
    const { app, headers, port, rpc } = await open();
    const printed = [vi.spyOn(process.stderr, 'write'), vi.spyOn(console, 'error')];
    onTestFinished(() => {
      for (const spy of printed) spy.mockRestore();
    });
    const closedBy = async (...frames: readonly (string | Buffer)[]): Promise<unknown> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${rpc}`, { headers });
      await new Promise((resolve) => socket.on('open', resolve));
      for (const frame of frames) socket.send(frame);
      return new Promise((resolve) => socket.on('close', resolve));
    };
    for (const frame of ['{"not": a call', 'null', '[]', '{}', '{"i":"1","p":{"u":7}}', Buffer.from([255]), ''])
      expect(await closedBy(frame, frame, frame), String(frame)).toBe(1007);
    expect(await closedBy(Buffer.alloc(97 * 2 ** 20))).toBe(1009);
    expect(await closedBy(`"${'x'.repeat(17 * 2 ** 20)}"`)).toBe(1009);
    expect(await closedBy(Buffer.alloc(17 * 2 ** 20))).toBe(1009);
    expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
    expect(await knock(port, headers, rpc)).toBe('open');
    expect(app.live.list()).toEqual([]);
  });

  it('says what to do about a taken port and a page that was not built', async () => {
    const { app, port } = await open();
    const options = { context: contextOf(app), page: join(import.meta.dirname, 'page'), port };
    await expect(serve(options)).rejects.toMatchObject({ code: 'PORT_TAKEN', kind: 'input' });
    await expect(serve({ ...options, page: temporaryFolder() })).rejects.toMatchObject({
      code: 'NOT_BUILT',
      remedy: expect.stringContaining('npm run build'),
    });
  });
});
