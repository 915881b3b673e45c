import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderOf, startGroup } from '../../main/rewards/process-group.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('folderOf', () => {
  it('removes old folders that killed processes have left, and no others', () => {
    const temporary = temporaryFolder();
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const dayAgo = Date.now() / 1000 - 25 * 3600;
    const old = [
      'braid-reward-999999999-a',
      `braid-reward-${process.pid}-b`,
      'braid-reward-own',
      'braid-reward-999999999-c',
    ];
    const [gone = '', running = '', other = '', young = ''] = old.map((name) => join(temporary, name));
    for (const folder of [gone, running, other, young]) mkdirSync(folder);
    for (const folder of [gone, running, other]) utimesSync(folder, dayAgo, dayAgo);
    rmSync(folderOf({}), { recursive: true });
    expect([gone, running, other, young].map((folder) => existsSync(folder))).toEqual([false, true, true, true]);
  });
});

describe('startGroup', () => {
  it('has an error event for a program that Node refuses to start, too', async () => {
    // Windows refuses batch files; an argument of 4 MiB is too long everywhere.
    const child = startGroup([process.execPath, 'x'.repeat(2 ** 22)], temporaryFolder(), 'pipe');
    const [error] = await once(child, 'exit').catch((refusal: unknown) => [refusal]);
    expect(error).toBeInstanceOf(Error);
    expect(child.pid).toBeUndefined();
  });

  it("keeps a proxy's password from the program", async () => {
    vi.stubEnv('https_proxy', 'http://me:secret@proxy.example');
    onTestFinished(() => void vi.unstubAllEnvs());
    const child = startGroup([process.execPath, '-p', 'JSON.stringify(process.env)'], temporaryFolder(), 'pipe');
    const [shown] = await once(child.stdout?.setEncoding('utf8') ?? child, 'data');
    expect(shown).toContain('PATH');
    expect(shown).not.toContain('secret');
  });
});
