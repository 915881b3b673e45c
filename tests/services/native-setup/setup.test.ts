import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeZip } from '../../../main/io/make-zip.ts';
import { type SetupOptions, setUpNative } from '../../../main/services/native-setup/setup.ts';
import { closeServer, listen } from '../../local-server.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { libraries, packageTarball, wheel } from './stand-ins.ts';

const sources = resolve('main/tensor/native/addon');
const folder = temporaryFolderOfFile();
let server: Server;
let base = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/short.whl') {
      // Promises more than it sends, as a broken connection does.
      response.writeHead(200, { 'content-length': '100000' });
      response.write('PK');
      return void setTimeout(() => response.destroy(), 20);
    }
    response.writeHead(404).end();
  });
  base = await listen(server);
});
afterAll(() => closeServer(server));

/** A place with an earlier set-up, and a way to try another one there. */
function place() {
  const native = mkdtempSync(join(folder, 'native-'));
  mkdirSync(join(native, 'current'));
  writeFileSync(join(native, 'current/manifest.json'), 'the old one');
  const attempt = (options: Partial<SetupOptions>) =>
    setUpNative({
      from: 'auto',
      package: packageTarball(folder),
      addon: null,
      sources,
      cpu: true,
      folder: native,
      ...options,
    });
  const unchanged = (): void => {
    expect(readdirSync(native)).toEqual(['current']);
    expect(readFileSync(join(native, 'current/manifest.json'), 'utf8')).toBe('the old one');
  };
  return { native, attempt, unchanged };
}

describe.runIf(process.platform === 'linux')('setUpNative', () => {
  it('rejects a wheel of something else and leaves the earlier set-up', async () => {
    const { attempt, unchanged } = place();
    const from = wheel(folder, 'numpy-2.0.0-cp311.whl', [{ name: 'numpy/__init__.py', content: '' }]);
    await expect(attempt({ from })).rejects.toThrow(
      /expected tensorflow\/libtensorflow_cc\.so\.2 and .* in the wheel, but it has none/,
    );
    unchanged();
  });

  it('rejects a truncated wheel', async () => {
    const { attempt, unchanged } = place();
    const from = join(folder, 'tensorflow_cpu-2.21.0.whl');
    writeFileSync(from, makeZip(libraries()).subarray(0, 90));
    await expect(attempt({ from })).rejects.toThrow(/it is truncated or of another kind/);
    unchanged();
  });

  it('rejects libraries for another architecture', async () => {
    const { attempt, unchanged } = place();
    await expect(attempt({ from: wheel(folder, 'tensorflow-2.21.0-armv7.whl', libraries(40)) })).rejects.toThrow(
      /expected a library for linux \w+, got one for another architecture/,
    );
    unchanged();
  });

  it('rejects an interrupted download, and a missing one', async () => {
    const { attempt, unchanged } = place();
    await expect(attempt({ from: `${base}/short.whl` })).rejects.toThrow(/short\.whl: the download failed/);
    await expect(attempt({ from: `${base}/none.whl` })).rejects.toThrow(/the server answered 404/);
    unchanged();
  });

  it('rejects another version of the package, a missing one and one without its source', async () => {
    const { attempt, unchanged } = place();
    await expect(attempt({ package: packageTarball(folder, '3.0.0') })).rejects.toThrow(
      /Expected .* 4\.22\.0, got .* 3\.0\.0/,
    );
    await expect(attempt({ package: join(folder, 'none.tgz') })).rejects.toThrow(
      /Expected a tarball of .*none\.tgz, but there is none/,
    );
    const empty = join(folder, 'empty.tgz');
    mkdirSync(join(folder, 'empty/package'), { recursive: true });
    execFileSync('tar', ['-czf', empty, '-C', join(folder, 'empty'), 'package']);
    await expect(attempt({ package: empty })).rejects.toThrow(/Expected package\.json, .* in the package/);
    unchanged();
  });

  it('says what the compiler said, or that there is none', async () => {
    const { attempt, unchanged } = place();
    const from = wheel(folder, 'tensorflow_cpu-2.20.0.whl', libraries());
    const before = process.env.CXX;
    process.env.CXX = join(folder, 'no-compiler');
    try {
      await expect(attempt({ from })).rejects.toMatchObject({
        message: expect.stringContaining('this program is not on the PATH'),
        remedy: expect.stringContaining('apt install g++'),
      });
    } finally {
      if (before === undefined) delete process.env.CXX;
      else process.env.CXX = before;
    }
    unchanged();
  });

  it('tries the addon before it replaces anything', async () => {
    const { attempt, unchanged } = place();
    const addon = join(folder, 'wrong.node');
    writeFileSync(addon, 'no shared object at all');
    const from = wheel(folder, 'tensorflow_cpu-2.19.0.whl', libraries());
    await expect(attempt({ from, addon })).rejects.toThrow(/was built, but a library is damaged: .*tfjs_binding\.node/);
    unchanged();
  });

  it('can be cancelled, with nothing left behind', async () => {
    const { attempt, unchanged } = place();
    const controller = new AbortController();
    const from = wheel(folder, 'tensorflow_cpu-2.18.0.whl', libraries());
    const onStep = (step: string): void => void (step.startsWith('unpacking') && controller.abort());
    await expect(attempt({ from, signal: controller.signal, onStep })).rejects.toMatchObject({ code: 'INTERRUPTED' });
    unchanged();
  });

  it('clears what a killed set-up left', async () => {
    const { native, attempt, unchanged } = place();
    // No process has a number beyond the system's limit.
    mkdirSync(join(native, 'staging-99999999/scratch'), { recursive: true });
    await expect(attempt({ from: wheel(folder, 'x-1.0.whl', []) })).rejects.toThrow();
    expect(existsSync(join(native, 'staging-99999999'))).toBe(false);
    unchanged();
  });
});
