import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IDLE_CODE, SUPERVISE, whileUsed } from '../../../main/services/servers/shell.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { freePort } from './desk.ts';

/** Listens on a port and ends connections that their other side has ended. */
const serving = (port: number): string =>
  `exec '${process.execPath}' -e 'require("net").createServer((s) => s.resume()).listen(${port}, "127.0.0.1")'`;

function start(line: string): { readonly child: ChildProcess; readonly ended: Promise<number | null>; said(): string } {
  // As in a job, it leads a process group.
  const child = spawn('sh', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout?.on('data', (piece: Buffer) => (text += piece));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
  });
  return { child, ended, said: () => text };
}

function reaches(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

describe.runIf(process.platform === 'linux')('whileUsed', () => {
  it('ends a server once nothing has been connected to it for its idle time', async () => {
    const port = await freePort();
    const { child, ended, said } = start(whileUsed(serving(port), 2, port));
    await until(() => reaches(port));
    const open = connect(port, '127.0.0.1');
    await sleep(4000);
    expect(child.exitCode).toBeNull();
    open.end();
    expect(await ended).toBe(IDLE_CODE);
    expect(said()).toContain(`nothing has used port ${port} for 2 seconds`);
    expect(await reaches(port)).toBe(false);
  });

  it('does not count before the server listens, and passes on how a command ends', async () => {
    const port = await freePort();
    expect(await start(whileUsed('sleep 3; exit 5', 1, port)).ended).toBe(5);
    expect(await start(whileUsed('exit 7', 1, port)).ended).toBe(7);
    expect(whileUsed('a b', 0, port)).toBe('a b');
    expect(whileUsed('a b', 60, null)).toBe('a b');
  });

  it('is ended by the signal that ends a job', async () => {
    const port = await freePort();
    const { child, ended } = start(whileUsed(serving(port), 60, port));
    await until(() => reaches(port));
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    expect(await ended).not.toBe(IDLE_CODE);
    expect(await reaches(port)).toBe(false);
  });
});

/** A supervisor, by default of one minute of idle time, whose clock and whose looks are the test's. */
function supervise(command: string, idleMinutes = 1, longestMinutes = 0) {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const [used, looks, next, ahead] = [join(folder, 'used'), join(bin, 'looks'), join(bin, 'next'), join(bin, 'ahead')];
  const scripts = {
    date: `echo "$(($(/bin/date +%s) + $(cat '${ahead}')))"`,
    sleep: `echo >>'${looks}'; while [ ! -e '${next}' ]; do /bin/sleep 0.05; done; rm '${next}'`,
  };
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const file of [used, looks]) writeFileSync(file, '');
  writeFileSync(ahead, '0');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const minutes = [idleMinutes, longestMinutes].map(String);
  const child = spawn('/bin/sh', ['-c', SUPERVISE, 'braid-server', command, folder, ...minutes, ''], {
    env,
    detached: true,
    stdio: 'ignore',
  });
  // Its watcher outlives it, in a sleep that nobody ends.
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  const sleeps = (count: number): Promise<void> => until(async () => readFileSync(looks, 'utf8').length === count);
  let count = 1;
  return {
    /** The supervisor's next look, this much later by its clock; nobody has noted a use since. */
    look: async (seconds: number) => {
      await sleeps(count);
      writeFileSync(ahead, String(Number(readFileSync(ahead, 'utf8')) + seconds));
      const then = statSync(used).mtimeMs / 1000 - seconds;
      utimesSync(used, then, then);
      writeFileSync(next, '');
      await sleeps(++count);
    },
    why: () => (existsSync(join(folder, 'why')) ? readFileSync(join(folder, 'why'), 'utf8') : null),
  };
}

describe.skipIf(process.platform === 'win32')('SUPERVISE', () => {
  it('ends a server that nobody has used, but not for the time that the machine slept', async () => {
    const { look, why } = supervise('exec /bin/sleep 300');
    await look(40);
    expect(why()).toBeNull();
    await look(8 * 3600);
    expect(why()).toBeNull();
    await look(40);
    expect(why()).toBeNull();
    await look(50);
    expect(why()).toBe('idle');
  });

  it('ends a server after its time, also where the clock was set back', async () => {
    const { look, why } = supervise('exec /bin/sleep 300', 0, 2);
    await look(50);
    await look(-3600);
    expect(why()).toBeNull();
    await look(55);
    await look(55);
    expect(why()).toBe('time');
  });
});
