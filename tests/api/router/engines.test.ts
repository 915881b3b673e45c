import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openServerRecords } from '../../../main/services/engines/server-records.ts';
import { freePort } from '../../services/servers/desk.ts';
import { tinyWorkspace } from '../../services/tiny-workspace.ts';
import { until } from '../../until.ts';
import { contextOf, openTinyApp, overPorts } from '../transports.ts';

const command = { kind: 'command', command: 'sleep 300', host: null, port: null, idleMinutes: 1, maxHours: 1 } as const;

async function open(mayLaunch: boolean) {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const { client } = await overPorts(contextOf(app, mayLaunch));
  const entry = { name: `e${await freePort()}`, url: `http://127.0.0.1:${await freePort()}`, baseModel: 'm' };
  return { app, client, entry };
}

describe('engines', () => {
  it("keep a page of a browser from saying what starts a server, not from changing the engine's other fields", async () => {
    const { client, entry } = await open(false);
    await expect(client.engines.save({ ...entry, launcher: command })).rejects.toMatchObject({
      data: { code: 'LAUNCHER_NOT_FROM_PAGE', remedy: expect.stringMatching(/--allow-launchers/) },
    });
    const { mayLaunch, engines } = await client.engines.save(entry);
    expect(mayLaunch).toBe(false);
    expect(engines.find(({ name }) => name === entry.name)).toMatchObject({ launcher: null, server: null });
  });

  it("upload no folder of this machine that the page couldn't read", async () => {
    const { client, entry } = await open(true);
    const ray = { kind: 'ray', dashboard: 'http://127.0.0.1:8265', entrypoint: 'x', workingDir: '/etc' } as const;
    await expect(client.engines.save({ ...entry, launcher: ray })).rejects.toMatchObject({
      data: { code: 'PATH_OUTSIDE' },
    });
    const plain = { ...ray, workingDir: null, dashboard: 'http://10.0.0.5:8265' };
    await expect(client.engines.save({ ...entry, launcher: plain })).rejects.toMatchObject({
      data: { code: 'ENGINE_NOT_SECURE' },
    });
  });

  it.skipIf(process.platform === 'win32')(
    'launch a server, list it as up, keep the launcher when only the model changes, and stop it',
    async () => {
      const { app, client, entry } = await open(true);
      await client.engines.save({ ...entry, launcher: command });
      await client.engines.save({ ...entry, baseModel: 'other' });
      const { name } = entry;
      expect(await client.engines.start({ name })).toMatchObject({ state: 'starting', mayBeUp: true });
      const { servers } = await client.app.status();
      expect(servers).toMatchObject([{ engine: name, idleMinutes: 1 }]);
      await expect(client.engines.remove({ name })).rejects.toMatchObject({ data: { code: 'SERVER_IS_UP' } });
      expect(openServerRecords(join(app.records.folder(name), '..')).read(name)).toMatchObject({ engine: name });
      expect(await client.engines.stop({ name })).toMatchObject({ state: 'stopped' });
      await until(async () => (await client.app.status()).servers.length === 0);
      expect((await client.engines.look({ name }))?.detail).toBe('It was stopped');
      await client.engines.remove({ name });
    },
    60_000,
  );

  it("say in a stage's form what a remote engine can't do", async () => {
    const { client } = await open(false);
    const config = { engine: 'any', use_peft: true, lora_alpha: 32, beta: 0.1, dataset: 'd.jsonl' };
    const faults = await client.config.check({ config });
    expect(faults).toMatchObject([{ field: 'beta', message: expect.stringMatching(/no reference/) }]);
    expect(await client.config.check({ config: { ...config, beta: 0 } })).toEqual([]);
    expect(await client.config.check({ config: { ...config, engine: null } })).toEqual([]);
  });
});
