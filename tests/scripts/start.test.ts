import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browserCommand, obstacle } from '../../scripts/start-rules.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const root = resolve(import.meta.dirname, '../..');

describe('obstacle', () => {
  it('says what keeps Electron from running', () => {
    const display = { DISPLAY: ':0' };
    expect(obstacle({ platform: 'linux', env: display, uid: 1000 })).toBeNull();
    expect(obstacle({ platform: 'linux', env: { WAYLAND_DISPLAY: 'wayland-0' }, uid: 1000 })).toBeNull();
    expect(obstacle({ platform: 'linux', env: {}, uid: 1000 })).toMatch(/needs a display/);
    expect(obstacle({ platform: 'linux', env: display, uid: 0 })).toMatch(/as root/);
    expect(obstacle({ platform: 'darwin', env: {}, uid: 501 })).toBeNull();
    expect(obstacle({ platform: 'win32', env: {}, uid: null })).toBeNull();
  });
});

describe('browserCommand', () => {
  it("is the system's own opener, where there is one and a screen to open it on", () => {
    const url = 'http://127.0.0.1:4127/?token=x';
    const find = (name: string) => `/usr/bin/${name}`;
    expect(browserCommand({ platform: 'darwin', env: {}, find }, url)).toEqual(['open', url]);
    expect(browserCommand({ platform: 'win32', env: {}, find }, url)?.at(-1)).toBe(url);
    expect(browserCommand({ platform: 'linux', env: { DISPLAY: ':0' }, find }, url)).toEqual([
      '/usr/bin/xdg-open',
      url,
    ]);
    expect(browserCommand({ platform: 'linux', env: {}, find }, url)).toBeNull();
    expect(browserCommand({ platform: 'linux', env: { DISPLAY: ':0' }, find: () => undefined }, url)).toBeNull();
  });
});

describe.runIf(process.platform === 'linux')('npm start', () => {
  /** `programs` come first on its PATH. */
  function start(programs: string, env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, ['scripts/start.ts', '--port', '0', '--workspace', temporaryFolder()], {
      cwd: root,
      env: { ...process.env, PATH: `${programs}:${process.env.PATH}`, DISPLAY: '', WAYLAND_DISPLAY: '', ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    const exited = new Promise<number | null>((settle) => child.on('exit', (code) => settle(code)));
    return { child, said: () => said, exited };
  }

  it('serves where Electron cannot run, says why in one line, and exits on request', async () => {
    const { child, said, exited } = start(temporaryFolder(), {});
    await until(() => said().includes('Braid is at http://127.0.0.1:'));
    expect(said().split('\n')[0]).toBe('Opening Braid in the browser: Electron needs a display and there is none.');
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('opens the browser where there is one', async () => {
    const programs = temporaryFolder();
    const opened = join(programs, 'opened');
    writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
    // Fails as a missing library does.
    writeFileSync(join(programs, 'electron'), '#!/bin/sh\necho "libnss3.so: no such file" >&2\nexit 127\n');
    for (const program of ['xdg-open', 'electron']) chmodSync(join(programs, program), 0o755);
    const { child, said, exited } = start(programs, { DISPLAY: ':0', ELECTRON_OVERRIDE_DIST_PATH: programs });
    await until(() => said().includes('Braid is at http://127.0.0.1:'));
    const root = process.getuid?.() === 0;
    expect(said()).toContain(
      root ? "Electron's sandbox does not run as root." : "Electron can't run here (libnss3.so: no such file).",
    );
    const [url] = said().match(/http:\S+/) ?? [];
    await until(() => existsSync(opened) && readFileSync(opened, 'utf8') !== '');
    expect(readFileSync(opened, 'utf8')).toBe(url);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});
