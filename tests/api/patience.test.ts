import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTinyClient } from './transports.ts';

/** Another process that holds the database against writing until it is killed. */
async function holder(root: string) {
  const program = `
    const db = new (require('better-sqlite3'))(${JSON.stringify(join(root, 'braid.db'))});
    db.exec('begin immediate');
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('patient', () => {
  it('keeps pages alive while another process holds the database, then does what was asked', async () => {
    const { world, client } = await openTinyClient();
    const child = await holder(world.root);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const change = client.settings.set({ concurrent_runs: 3 });
    expect(await client.runs.list({})).toEqual([]);
    child.kill('SIGKILL');
    await change;
    delay.disable();
    expect((await client.settings.get()).concurrent_runs).toBe(3);
    expect(delay.max / 1e6).toBeLessThan(1500);
  });

  it('names the process that holds it for long', async () => {
    const { world, client } = await openTinyClient();
    const child = await holder(world.root);
    const named = process.platform === 'linux' ? `process ${child.pid} (` : 'another process is using it';
    await expect(client.settings.set({ concurrent_runs: 3 })).rejects.toMatchObject({
      message: expect.stringContaining(named),
      data: { code: 'DATABASE_LOCKED', remedy: expect.stringContaining('Nothing was changed') },
    });
  }, 20_000);
});
