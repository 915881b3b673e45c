import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ServerRecord } from '../../../main/services/engines/server-records.ts';
import { openServers } from '../../../main/services/servers/servers.ts';
import { closeServer } from '../../local-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { answerOn, type Desk, engineWith, freePort, openDesk, serverCommand } from './desk.ts';

async function world(command: (port: number) => string, more: object = {}) {
  const port = await freePort();
  const desk = openDesk();
  const engine = engineWith(`http://127.0.0.1:${port}`, { kind: 'command', command: command(port), ...more });
  onTestFinished(async () => {
    if (desk.records.read('cluster') !== null) await desk.servers.down('cluster');
  });
  return { port, desk, engine };
}

async function stateOf(desk: Desk): Promise<string | undefined> {
  return (await desk.servers.status('cluster'))?.state;
}

function pidOf(desk: Desk): number {
  const handle = desk.records.read('cluster')?.handle;
  if (handle?.kind !== 'command' || handle.pid === null) throw new Error('Expected a process');
  return handle.pid;
}

const groupExists = (pid: number): boolean => {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
};

describe.skipIf(process.platform === 'win32')('a command of this machine', () => {
  it('starts a server that outlives the app, with its log, until it is stopped', async () => {
    const { desk, engine } = await world((port) => `echo hello; ${serverCommand(port)}`);
    expect(await desk.servers.isMissing(engine)).toBe(true);
    expect(await desk.servers.up(engine)).toMatchObject({ state: 'starting', mayBeUp: true });
    await until(async () => (await stateOf(desk)) === 'up');
    expect(await desk.servers.isMissing(engine)).toBe(false);
    expect(await desk.servers.log('cluster')).toBe('hello\nready\n');
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'SERVER_IS_UP' });
    const pid = pidOf(desk);
    // The clock was wrong when it started, and has been set since.
    const record = desk.records.read('cluster');
    if (process.platform === 'linux' && record !== null) desk.records.write({ ...record, startedAt: 0 });
    expect(await stateOf(desk)).toBe('up');
    // Another process of the same user, such as the app after a restart.
    const again = desk.again();
    expect(again.list()).toMatchObject([{ engine: 'cluster', state: 'up', mayBeUp: true }]);
    expect(await again.down('cluster')).toMatchObject({ state: 'stopped', detail: 'It was stopped' });
    expect(groupExists(pid)).toBe(false);
    expect(await stateOf(desk)).toBe('stopped');
  }, 30_000);

  it('is not taken for an earlier one that was being looked at while it was started', async () => {
    const { desk, engine } = await world(serverCommand);
    let looked: Promise<unknown> | null = null;
    // Its first record has no process yet.
    const write = (record: ServerRecord): void => {
      desk.records.write(record);
      looked ??= servers.refresh();
    };
    const servers = openServers({ records: { ...desk.records, write }, secrets: desk.secrets });
    await servers.up(engine);
    await looked;
    expect(pidOf(desk)).toBeGreaterThan(0);
    expect(desk.records.read('cluster')).toMatchObject({ state: expect.stringMatching(/starting|up/) });
  }, 30_000);

  it('that is stopped while another process looks at it stays stopped', async () => {
    const { desk, engine, port } = await world(() => 'sleep 300');
    await desk.servers.up(engine);
    // Slow to answer, so that the look ends last.
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const slow = createServer((_, response) => {
      asked.resolve();
      void answer.promise.then(() => response.end('{}'));
    });
    await new Promise<void>((resolve) => slow.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => closeServer(slow));
    const looking = desk.again().status('cluster');
    await asked.promise;
    await desk.servers.down('cluster');
    answer.resolve();
    expect(await looking).toMatchObject({ state: 'stopped' });
    expect(desk.servers.list()).toMatchObject([{ state: 'stopped', mayBeUp: false }]);
  }, 30_000);

  it('that fails says its code and its last line', async () => {
    const { desk, engine } = await world(() => 'echo first; echo "no such model" >&2; exit 3');
    await desk.servers.up(engine);
    await until(async () => (await stateOf(desk)) === 'failed');
    expect(desk.servers.list()[0]).toMatchObject({
      mayBeUp: false,
      detail: 'The command ended with code 3: no such model',
    });
    const ended = engineWith(engine.url, { kind: 'command', command: 'true' });
    await desk.servers.up(ended);
    await until(async () => (await stateOf(desk)) === 'stopped');
    expect(desk.servers.list()[0]?.detail).toBe('The command ended by itself');
  }, 30_000);

  it('that ignores a polite end is killed, with everything that it started', async () => {
    const { desk, engine } = await world(() => `(trap '' TERM; sleep 300) & trap '' TERM; sleep 300`);
    await desk.servers.up(engine);
    await until(async () => existsSync(join(desk.records.folder('cluster'), 'log.txt')));
    const pid = pidOf(desk);
    await desk.servers.down('cluster');
    // Dead ones are there until the system has reaped them.
    await until(async () => !groupExists(pid));
  }, 30_000);

  it('that was killed without a word is gone', async () => {
    const { desk, engine } = await world(() => 'sleep 300');
    await desk.servers.up(engine);
    process.kill(-pidOf(desk), 'SIGKILL');
    await until(async () => (await stateOf(desk)) === 'gone');
  }, 30_000);

  it('ends by itself when nothing has used it, without an app', async () => {
    const { desk, engine } = await world(() => 'sleep 300', { idleMinutes: 1 });
    await desk.servers.up(engine);
    const long = new Date(Date.now() - 5 * 60_000);
    utimesSync(join(desk.records.folder('cluster'), 'used'), long, long);
    const why = join(desk.records.folder('cluster'), 'why');
    await until(async () => existsSync(why) && (await stateOf(desk)) === 'stopped');
    expect(desk.servers.list()[0]?.detail).toMatch(/nothing had used it/);
  }, 40_000);

  it('is not started where something answers already, nor under an engine without a launcher', async () => {
    const { port, desk, engine } = await world(() => 'sleep 300');
    await answerOn(port);
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'SERVER_ANSWERS' });
    await expect(desk.servers.up({ ...engine, launcher: null })).rejects.toMatchObject({ code: 'NO_LAUNCHER' });
    await expect(desk.servers.down('cluster')).rejects.toMatchObject({ code: 'SERVER_UNKNOWN' });
    expect(desk.servers.list()).toEqual([]);
  });
});

/** An ssh that runs the line here, in a home of its own, and a tunnel that isn't needed; how it was called. */
function fakeSsh(): { readonly home: string; readonly calls: () => string; breaks(): void } {
  const home = temporaryFolder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh
printf '%s\\n' "$*" >>"${home}/calls"
[ -e "${home}/away" ] && { echo "ssh: connect to host gpu: No route to host" >&2; exit 255; }
while [ "$1" != "--" ]; do shift; done
HOME="${home}"; export HOME
# A session of its own, as sshd gives it: it survives the line.
setsid sh -c "$3" &
line=$!
while kill -0 "$line" 2>/dev/null; do [ -e "${home}/cut" ] && exit 255; sleep 0.05; done
wait "$line"
`;
  writeFileSync(join(bin, 'ssh'), script);
  chmodSync(join(bin, 'ssh'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${bin}${delimiter}${before}`;
  restore.push(() => (process.env.PATH = before));
  return {
    home,
    calls: () => readFileSync(join(home, 'calls'), 'utf8'),
    breaks: () => writeFileSync(join(home, 'cut'), ''),
  };
}

const restore: (() => void)[] = [];
afterEach(() => {
  for (const back of restore.splice(0)) back();
});

describe.skipIf(process.platform !== 'linux')('a command on another host', () => {
  it('runs there behind a tunnel, and is ended there', async () => {
    const ssh = fakeSsh();
    const { port, desk, engine } = await world(serverCommand, { host: 'me@gpu', port: 8000 });
    await desk.servers.up(engine);
    await until(async () => (await stateOf(desk)) === 'up');
    expect(ssh.calls()).toContain(`-L 127.0.0.1:${port}:127.0.0.1:8000 -- me@gpu sh -c`);
    expect(ssh.calls()).toContain('-o BatchMode=yes -o ExitOnForwardFailure=yes');
    expect(await desk.servers.log('cluster')).toMatch(/^braid: process group \d+\nready\n$/);
    const engines = join(ssh.home, '.braid/engines');
    const group = Number(readFileSync(join(engines, readdirSync(engines)[0] ?? ''), 'utf8'));
    await desk.servers.down('cluster');
    expect(groupExists(group)).toBe(false);
    expect(readdirSync(engines)).toEqual([]);
  }, 30_000);

  it('whose line breaks gets another one to the same server', async () => {
    const ssh = fakeSsh();
    const { desk, engine } = await world((port) => serverCommand(port), { host: 'gpu' });
    await desk.servers.up(engine);
    await until(async () => (await stateOf(desk)) === 'up');
    const begun = (await desk.servers.log('cluster')).match(/process group \d+/)?.[0];
    ssh.breaks();
    await until(async () => (await desk.servers.log('cluster')).includes('opening it again, try 1 of 18'));
    // Only a real tunnel takes the address away, too; what would be shown then:
    expect(readFileSync(join(desk.records.folder('cluster'), 'reopening'), 'utf8')).toBe('1 of 18');
    rmSync(join(ssh.home, 'cut'));
    await until(async () => (await desk.servers.log('cluster')).includes('braid: connected again'));
    // Nothing was started a second time.
    expect((await desk.servers.log('cluster')).match(/process group \d+/g)).toEqual([begun]);
    expect(await stateOf(desk)).toBe('up');
    await desk.servers.down('cluster');
    expect(readdirSync(join(ssh.home, '.braid/engines'))).toEqual([]);
  }, 30_000);

  it('whose line stays broken is asked for there, and can still be ended', async () => {
    const ssh = fakeSsh();
    const { desk, engine } = await world(() => 'exec sleep 300', { host: 'gpu' });
    await desk.servers.up(engine);
    await until(async () => (await desk.servers.log('cluster')).includes('process group'));
    // As after the last try.
    process.kill(-pidOf(desk), 'SIGKILL');
    await until(() => !groupExists(pidOf(desk)));
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'unknown',
      mayBeUp: true,
      detail: expect.stringMatching(/still up, without a tunnel/),
    });
    writeFileSync(join(ssh.home, 'away'), '');
    expect((await desk.servers.status('cluster'))?.detail).toMatch(
      /can't be asked, so the server there may still be up/,
    );
    await expect(desk.servers.down('cluster')).rejects.toMatchObject({ code: 'SSH_FAILED' });
    rmSync(join(ssh.home, 'away'));
    expect(await desk.servers.down('cluster')).toMatchObject({ state: 'stopped' });
    expect(readdirSync(join(ssh.home, '.braid/engines'))).toEqual([]);
  }, 30_000);

  it('that ssh never reached has failed, and is not in the list of what may be up', async () => {
    const ssh = fakeSsh();
    writeFileSync(join(ssh.home, 'away'), '');
    const { desk, engine } = await world(() => 'sleep 300', { host: 'gpu' });
    await desk.servers.up(engine);
    await until(async () => (await stateOf(desk)) === 'failed');
    expect(desk.servers.list()[0]?.detail).toMatch(/No route to host/);
    rmSync(join(ssh.home, 'away'));
  }, 30_000);

  it('is refused where its tunnel would not lead to the engine, or the host is an option', async () => {
    const desk = openDesk();
    const engine = engineWith('https://gpu.example.com', { kind: 'command', command: 'x', host: 'gpu' });
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'BAD_LAUNCHER' });
    expect(desk.servers.list()).toEqual([]);
    expect(() => engineWith('http://127.0.0.1:1', { kind: 'command', command: 'x', host: '-oProxyCommand=x' })).toThrow(
      /as ssh takes it/,
    );
  });
});
