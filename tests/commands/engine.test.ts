import { describe, expect, it } from 'vitest';
import { newIn } from '../../main/commands/engine-server.ts';
import { freePort, serverCommand } from '../services/servers/desk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { braidAt } from './braid.ts';

const address = ['--base-model', 'org/model', '--url'];

describe('braid engine', () => {
  it('adds, lists and removes engines, and keeps a key without showing it', async () => {
    const home = temporaryFolder();
    const priced = ['--prices', '0.1,0.4,0.6', '--json'];
    const added = await braidAt(home, '', 'engine', 'add', 'gpu', ...address, 'https://gpu.example.com/', ...priced);
    expect(JSON.parse(added.stdout)).toMatchObject({ url: 'https://gpu.example.com', prices: { sample: 0.4 } });
    expect((await braidAt(home, 's3cret\n', 'engine', 'key', 'gpu')).code).toBe(0);
    const listed = await braidAt(home, '', 'engine', 'list', '--json');
    expect(JSON.parse(listed.stdout).engines).toEqual([expect.objectContaining({ name: 'gpu', hasKey: true })]);
    expect(listed.stdout).not.toContain('s3cret');
    expect((await braidAt(home, '', 'engine', 'remove', 'gpu')).code).toBe(0);
    expect((await braidAt(home, '', 'engine', 'list')).stdout).toMatch(/No engine is set up/);
  });

  it('takes plain http to another machine only with two options', async () => {
    const home = temporaryFolder();
    const plain = ['engine', 'add', 'gpu', ...address, 'http://10.0.0.5:8000'];
    for (const args of [plain, [...plain, '--allow-plain-http']]) {
      const refused = await braidAt(home, '', ...args);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/SSH tunnel|readable on the way/);
    }
    expect((await braidAt(home, '', ...plain, '--allow-plain-http', '--yes')).code).toBe(0);
  });

  it('refuses odd prices and names that it does not know', async () => {
    const home = temporaryFolder();
    const odd = await braidAt(home, '', 'engine', 'add', 'gpu', ...address, 'https://a', '--prices', '1,x');
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringMatching(/three numbers/) });
    const unknown = await braidAt(home, '', 'engine', 'test', 'gpu');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/none is set up/) });
    const train = await braidAt(home, '', 'train', '--task', 'interleave', '--engine', 'gpu');
    expect(train).toMatchObject({ code: 2, stderr: expect.stringMatching(/name of an engine, got "gpu"/) });
  });

  it('says within seconds that nothing listens at an address', async () => {
    const home = temporaryFolder();
    await braidAt(home, '', 'engine', 'add', 'gpu', ...address, `http://127.0.0.1:${await freePort()}`);
    const began = performance.now();
    const tested = await braidAt(home, '', 'engine', 'test', 'gpu');
    expect(tested).toMatchObject({ code: 1, stderr: expect.stringMatching(/can't be reached.*\n.*then test again/) });
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  it('names the options that a launcher needs and that are missing', async () => {
    const home = temporaryFolder();
    await braidAt(home, '', 'engine', 'add', 'gpu', ...address, 'https://a');
    const launcher = ['engine', 'launcher', 'gpu'];
    const ray = await braidAt(home, '', ...launcher, '--ray', 'http://127.0.0.1:8265');
    expect(ray).toMatchObject({ code: 2, stderr: 'braid: Expected --entrypoint with --ray\n' });
    const hf = await braidAt(home, '', ...launcher, '--hf', 'me', '--image', 'i');
    expect(hf).toMatchObject({ code: 2, stderr: 'braid: Expected --command, --flavor with --hf\n' });
  });
});

describe.skipIf(process.platform === 'win32')('braid engine up', () => {
  it('starts a server that outlives the command, lists it, shows its log and ends it', async () => {
    const home = temporaryFolder();
    const port = await freePort();
    await braidAt(home, '', 'engine', 'add', 'local', ...address, `http://127.0.0.1:${port}`);
    const nothing = await braidAt(home, '', 'engine', 'up', 'local');
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringMatching(/braid engine launcher/) });
    const launcher = ['engine', 'launcher', 'local', '--command', serverCommand(port), '--idle-minutes', '5'];
    expect((await braidAt(home, '', ...launcher)).code).toBe(0);
    const train = ['train', '--task', 'interleave', '--engine', 'local'];
    expect(await braidAt(home, '', ...train)).toMatchObject({ code: 2, stderr: expect.stringMatching(/isn't up/) });
    const up = await braidAt(home, '', 'engine', 'up', 'local', '--json');
    expect(JSON.parse(up.stdout)).toMatchObject({ state: 'up', idleMinutes: 5 });
    expect(up.stderr).toMatch(/stays up: a command on this machine. It ends after 5 min/);
    const status = await braidAt(home, '', 'engine', 'status', '--json');
    expect(JSON.parse(status.stdout).servers).toMatchObject([{ engine: 'local', state: 'up' }]);
    expect((await braidAt(home, '', 'engine', 'log', 'local')).stdout).toBe('ready\n');
    expect((await braidAt(home, '', 'engine', 'remove', 'local')).stderr).toMatch(/Stop it first/);
    expect((await braidAt(home, '', 'engine', 'down', 'local')).stdout).toMatch(/It was stopped/);
    expect((await braidAt(home, '', 'engine', 'remove', 'local')).code).toBe(0);
  });

  it('reads the launcher of each kind, and the token of a cluster without showing it', async () => {
    const home = temporaryFolder();
    await braidAt(home, '', 'engine', 'add', 'far', ...address, 'http://127.0.0.1:8000');
    const set = async (...options: readonly string[]) => {
      const { stdout, stderr } = await braidAt(home, 't0ken\n', 'engine', 'launcher', 'far', '--json', ...options);
      expect(stdout + stderr).not.toContain('t0ken');
      return stdout === '' ? stderr : (JSON.parse(stdout) as { launcher: unknown }).launcher;
    };
    const ray = ['--ray', 'http://127.0.0.1:8265', '--entrypoint', 'serve'];
    const more = ['--env', 'A=b=c', '--gpus', '1', '--max-hours', '0.5', '--token'];
    expect(await set(...ray, '--pip', 'x', 'y', ...more)).toMatchObject({
      kind: 'ray',
      pip: ['x', 'y'],
      env: { A: 'b=c' },
      gpus: 1,
      maxHours: 0.5,
      idleMinutes: 30,
    });
    expect(await set('--hf', 'me', '--image', 'i', '--command', 'c', '--flavor', 'h200')).toMatchObject({ kind: 'hf' });
    expect(await set('--hf', 'me', '--image', 'i', '--command', 'c')).toMatch(/--flavor with --hf/);
    expect(await set('--ray', 'http://10.0.0.5:8265', '--entrypoint', 'x', '--allow-plain-http')).toMatch(/--yes/);
    expect(await set('--command', 'c', '--ssh', '-oProxyCommand=x')).toMatch(/as ssh takes it/);
    expect(await set('--none')).toBeNull();
  });
});

describe('newIn', () => {
  it('is what a log adds, also where only its end is kept', () => {
    expect(newIn('a\n', 'a\nb\n')).toBe('b\n');
    expect(newIn('', 'a\n')).toBe('a\n');
    expect(newIn('1\n2\n', '2\n3\n')).toBe('2\n3\n');
    const long = Array.from({ length: 300 }, (_, i) => `line ${i}\n`).join('');
    expect(newIn(long, `${long.slice(500)}more\n`)).toBe('more\n');
  });
});
