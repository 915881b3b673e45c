import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { startDesktop } from './desktop.ts';

const root = resolve(import.meta.dirname, '../..');

describe('the built main entry', () => {
  it('starts: sandbox and scheme first, then one locked window on the built page', async () => {
    const desktop = startDesktop({ workspace: temporaryFolder() });
    const [url] = await desktop.asked('window.loadURL');
    expect(url).toBe('app://braid/index.html');
    await desktop.asked('window.show');
    const order = desktop.calls.map(({ name }) => name);
    const ready = order.indexOf('app.ready');
    for (const early of ['app.enableSandbox', 'protocol.registerSchemesAsPrivileged', 'app.requestSingleInstanceLock'])
      expect(order.slice(0, ready)).toContain(early);
    const [options] = desktop.of('BrowserWindow')[0] as [{ readonly webPreferences: object }];
    expect(desktop.of('BrowserWindow')).toHaveLength(1);
    expect(options.webPreferences).toEqual({
      preload: join(root, 'out/preload/index.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
    });
    const [schemes] = desktop.of('protocol.registerSchemesAsPrivileged')[0] ?? [];
    // No bypass of the page's policy, no service workers.
    expect(schemes).toEqual([{ scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } }]);
  });

  it('serves the page with its policy, and no file outside it', async () => {
    const desktop = startDesktop({ workspace: temporaryFolder() });
    await desktop.asked('window.show');
    const fetched = async (url: string, method = 'GET') =>
      (await desktop.order({ kind: 'fetch', url, method })) as {
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string;
      };
    const page = await fetched('app://braid/index.html#/runs');
    expect(page).toMatchObject({ status: 200, body: readFileSync(join(root, 'out/renderer/index.html'), 'utf8') });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = page.headers['content-security-policy'];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const [script] = page.body.match(/assets\/[\w-]+\.js/) ?? [];
    expect((await fetched(`app://braid/${script}`)).headers['content-type']).toBe('text/javascript; charset=utf-8');
    for (const outside of [
      'app://braid/../main/index.js',
      'app://braid/..%2fmain%2findex.js',
      'app://braid/%2e%2e/%2e%2e/package.json',
      'app://braid/%2fetc%2fpasswd',
      'app://braid/index.html%00.js',
      'app://braid/%E0%A4%A',
      'app://braid/assets',
      'app://braid/',
      'app://other/index.html',
      'app://braid/none.js',
    ])
      expect([outside, (await fetched(outside)).status]).toEqual([outside, 404]);
    expect((await fetched('app://braid/index.html', 'POST')).status).toBe(405);
  });

  it('exits at once as a second instance, after passing on its files', async () => {
    const file = join(root, 'datasets/source_texts.json');
    const desktop = startDesktop({
      workspace: temporaryFolder(),
      first: false,
      args: ['--some-switch', file, 'none.txt'],
    });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('app.requestSingleInstanceLock')).toEqual([[{ files: [file] }]]);
    expect(desktop.of('BrowserWindow')).toEqual([]);
  });
});
