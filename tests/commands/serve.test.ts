import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { enterPage } from '../api/page-entry.ts';
import { BRAID } from '../processes/paths.ts';
import { temporaryStore } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { connectTo, startHost } from './serve-host.ts';

function serve(workspace: string, ...args: string[]) {
  return spawnSync(process.execPath, [BRAID, 'serve', '--workspace', workspace, ...args], { encoding: 'utf8' });
}

describe('braid serve', () => {
  it('prints its address, answers, and ends at SIGTERM with 0', async () => {
    const root = temporaryFolder();
    const host = await startHost(root);
    expect(host.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/);
    const client = await connectTo(host);
    expect(await client.app.info()).toMatchObject({ host: 'serve', workspace: root, dialogs: false });
    host.process.kill('SIGTERM');
    await host.exited;
    expect(host.process.exitCode).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')('gives back what a large message took', async () => {
    const host = await startHost(temporaryFolder());
    const resident = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${host.process.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = resident();
    const entry = await enterPage(host.url);
    const socket = new WebSocket(entry.socket, { headers: entry.headers });
    await new Promise((open) => socket.on('open', open));
    socket.send('a'.repeat(95 * 2 ** 20));
    await new Promise((closed) => socket.on('close', closed));
    // 290 MB without, for as long as the host is idle.
    await expect.poll(() => resident() - before, { timeout: 20_000, interval: 500 }).toBeLessThan(130);
  });

  it('tells a second one who holds the workspace', async () => {
    const root = temporaryFolder();
    const host = await startHost(root);
    const second = serve(root, '--port', '0');
    expect(second.status).toBe(2);
    expect(second.stderr).toContain(`braid serve (process ${host.process.pid}`);
    expect(second.stderr).toContain('another workspace with --workspace');
  });

  it('rejects a port that there is not, and creates no workspace', () => {
    const root = join(temporaryFolder(), 'new');
    const { status, stderr } = serve(root, '--port', '99999');
    expect([status, stderr]).toEqual([2, 'braid: Expected --port to be a port of at most 65535, got "99999"\n']);
    expect(existsSync(root)).toBe(false);
  });

  it('rejects a folder to allow that there is not, and creates no workspace', () => {
    const root = join(temporaryFolder(), 'new');
    const { status, stderr } = serve(root, '--port', '0', '--allow', temporaryFolder(), '/nope');
    expect([status, stderr]).toEqual([2, 'braid: Expected --allow to name folders that exist, got "/nope"\n']);
    expect(existsSync(root)).toBe(false);
  });

  it('rejects a taken port, a database of a newer version, and a locked one, and leaves no lock', async () => {
    const held = await startHost(temporaryFolder());
    const root = temporaryFolder();
    const taken = serve(root, '--port', String(held.port));
    expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('another port with --port')]);
    const store = temporaryStore(root);
    const db = new Database(join(root, 'braid.db'));
    db.pragma('user_version = 99');
    const newer = serve(root, '--port', '0');
    expect([newer.status, newer.stderr]).toEqual([2, expect.stringContaining('written by a newer Braid')]);
    db.pragma('user_version = 1');
    db.exec('begin exclusive');
    const locked = serve(root, '--port', '0');
    expect([locked.status, locked.stderr]).toEqual([
      1,
      expect.stringMatching(/process \d+ \(.+\) has locked it|another process is using it/),
    ]);
    db.exec('rollback');
    db.close();
    store.close();
  });
});
