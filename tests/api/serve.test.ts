import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { checkNames } from '../../main/serve/gate.ts';
import { serve } from '../../main/serve.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { contextOf, openTinyApp, pageHeaders, serveForTest } from './transports.ts';

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
function knock(port: number, headers: Record<string, string>, path = '/rpc'): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve('open');
    });
    socket.on('error', (error) => resolve(error.message));
  });
}

async function open() {
  const app = openTinyApp(await tinyWorkspace());
  const serving = await serveForTest(contextOf(app));
  const { headers } = await pageHeaders(serving);
  return { app, serving, headers, port: serving.port };
}

describe('braid serve', () => {
  it('lets in whoever has the token, takes it out of the address, and sends the page under its policy', async () => {
    const { serving, headers, port } = await open();
    const entered = await ask(port, new URL(serving.url).pathname + new URL(serving.url).search);
    expect(entered).toMatchObject({ status: 302, headers: { location: '/' } });
    expect(String(entered.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Strict/);
    const page = await ask(port, '/', headers);
    expect(page.status).toBe(200);
    expect(page.body).toContain('Page of a test');
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' ws://127.0.0.1:${port};`);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await ask(port, '/assets/code.js', headers)).headers['content-type']).toContain('text/javascript');
    expect(await knock(port, headers)).toBe('open');
  });

  it('works through a tunnel that ends on another port', async () => {
    const { headers, port } = await open();
    const through = { Cookie: headers.Cookie ?? '', Host: 'localhost:8080', Origin: 'http://localhost:8080' };
    expect((await ask(port, '/', through)).status).toBe(200);
    expect(await knock(port, through)).toBe('open');
  });

  it('turns away a missing and a stale token, in words', async () => {
    const { headers, port } = await open();
    const { Origin = '' } = headers;
    expect(await ask(port, '/')).toMatchObject({ status: 401, body: expect.stringContaining('braid serve printed') });
    expect((await ask(port, '/?token=guess')).status).toBe(401);
    expect((await ask(port, '/index.html', { Cookie: `${headers.Cookie}x` })).status).toBe(401);
    expect(await knock(port, { Origin })).toContain('401');
    const other = await open();
    expect(await knock(port, { Origin, Cookie: other.headers.Cookie ?? '' })).toContain('401');
  });

  it('turns away a foreign host and a foreign origin, token or not', async () => {
    const { headers, port } = await open();
    const { Cookie = '', Origin = '' } = headers;
    expect((await ask(port, '/', { ...headers, Host: 'evil.example' })).status).toBe(403);
    expect((await ask(port, '/', { ...headers, Host: `127.0.0.1.evil.example:${port}` })).status).toBe(403);
    expect((await ask(port, '/', { Cookie, Origin: 'http://evil.example' })).status).toBe(403);
    expect(await knock(port, { Cookie, Origin: 'http://evil.example' })).toContain('403');
    expect(await knock(port, { Cookie })).toContain('403');
    expect(await knock(port, { Cookie, Origin: Origin.replace('http', 'https') })).toContain('403');
    expect(await knock(port, { Cookie, Origin, Host: 'evil.example' })).toContain('403');
    expect(checkNames({ host: undefined, origin: undefined, cookie: undefined, token: null }, false).kind).toBe('out');
  });

  it('gives nothing but the page: no other file, no other method, no other socket', async () => {
    const { headers, port } = await open();
    for (const path of ['/../../package.json', '/%2e%2e/package.json', '/assets/../../gate.ts', '/braid.db'])
      expect((await ask(port, path, headers)).status).toBe(404);
    expect((await ask(port, '/', headers, 'POST')).status).toBe(405);
    expect(await knock(port, headers, '/other')).toContain('404');
  });

  it('closes a socket that sends too much or nonsense, and goes on with the others', async () => {
    const { app, headers, port } = await open();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, { headers });
    await new Promise((resolve) => socket.on('open', resolve));
    socket.send('{"not": a call');
    socket.send(Buffer.alloc(97 * 2 ** 20));
    const code = await new Promise((resolve) => socket.on('close', resolve));
    expect(code).toBe(1009);
    expect(await knock(port, headers)).toBe('open');
    expect(app.live.list()).toEqual([]);
  });

  it('says what to do about a taken port and a page that was not built', async () => {
    const { app, port } = await open();
    const options = { context: contextOf(app), page: new URL('page', import.meta.url).pathname, port };
    await expect(serve(options)).rejects.toMatchObject({ code: 'PORT_TAKEN', kind: 'input' });
    await expect(serve({ ...options, page: temporaryFolder() })).rejects.toMatchObject({
      code: 'NOT_BUILT',
      remedy: expect.stringContaining('npm run build'),
    });
  });
});
