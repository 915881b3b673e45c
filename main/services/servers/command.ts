/** A server that a command starts, on this machine or by ssh on another with a tunnel back. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BraidError, inputError } from '../../errors.ts';
import { isLoopback } from '../../io/address.ts';
import { errorCode } from '../../io/atomic-write.ts';
import { startReason } from '../../io/start-reason.ts';
import { portOf, type ServerLauncherOf } from '../engines/server-launcher.ts';
import { identityOf, isBeforeBoot } from '../workspace/host.ts';
import { ENDED_IDLE, type Looked, type ServerKind, type StartedRecord, tailOf } from './kind.ts';
import {
  askElsewhere,
  attachElsewhere,
  BEGUN,
  elsewhere,
  endElsewhere,
  reopening,
  SUPERVISE,
  sshArguments,
  sshLine,
} from './shell.ts';

type CommandRecord = StartedRecord<'command'>;

const run = promisify(execFile);
/** How long a server may take to end before it is killed. */
const GRACE_MS = 12_000;
/** How long ssh may take to answer. */
const SSH_MS = 30_000;

export const commandServer: ServerKind<'command'> = {
  plan: ({ host }, { name, url }) => {
    if (process.platform === 'win32')
      throw inputError(
        'LAUNCHER_NOT_HERE',
        'Windows has no shell that could keep a server: commands can be started on Linux and macOS only',
        'Start the server by hand, in WSL, or as a Ray or Hugging Face job.',
      );
    if (host !== null && !isLoopback(new URL(url).hostname))
      throw inputError(
        'BAD_LAUNCHER',
        `The tunnel ends on this machine, and the engine's address is ${url}`,
        'Give the engine an address such as http://127.0.0.1:8000: the tunnel begins at that port.',
      );
    return { kind: 'command', pid: null, hostId: null, host, label: `${name}-${randomBytes(4).toString('hex')}` };
  },

  start: async (launcher, record, { records }) => {
    const folder = records.folder(record.engine);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of ['exit', 'why', 'reopening']) rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, 'used'), '', { mode: 0o600 });
    const log = openSync(join(folder, 'log.txt'), 'w', 0o600);
    const { command, onEnd } = linesOf(launcher, record, folder);
    const minutes = [launcher.idleMinutes, Math.ceil(launcher.maxHours * 60)].map(String);
    const { BRAID_ENGINE_KEY: _, ...env } = process.env;
    try {
      const child = spawn('/bin/sh', ['-c', SUPERVISE, 'braid-server', command, folder, ...minutes, onEnd], {
        detached: true,
        stdio: ['ignore', log, log],
        cwd: homedir(),
        env,
      });
      await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch(notStarted);
      child.unref();
      const pid = child.pid ?? null;
      return { ...record.handle, pid, hostId: pid === null ? null : identityOf(pid) };
    } finally {
      closeSync(log);
    }
  },

  look: async (record, { records }) => {
    const folder = records.folder(record.engine);
    const code = fileOr(join(folder, 'exit'));
    const why = fileOr(join(folder, 'why'));
    const tries = fileOr(join(folder, 'reopening'));
    if (code === null && isAlive(record))
      return {
        state: 'starting',
        detail:
          tries === null
            ? 'Its process runs'
            : `The connection to ${record.handle.host} broke and is being opened again, try ${tries}`,
      };
    if (why !== null) return { state: 'stopped', detail: WHY[why.trim()] ?? 'It was stopped' };
    const { host } = record.handle;
    if (code === null) {
      const lost = {
        state: 'gone',
        detail: 'Its process is gone without a word: killed, or this machine was restarted',
      };
      return host === null ? (lost as Looked) : await lookElsewhere(record, host, 'Its connection is gone');
    }
    // Without its first line there was never a connection, so nothing was started.
    if (host !== null && code === '255' && BEGUN.test(fileOr(join(folder, 'log.txt')) ?? ''))
      return await lookElsewhere(record, host, `ssh ended${lastLine(folder, ': ')}`);
    if (code === '0') return { state: 'stopped', detail: 'The command ended by itself' };
    return { state: 'failed', detail: `The command ended with code ${code}${lastLine(folder, ': ')}` };
  },

  stop: async (record, { records }) => {
    const folder = records.folder(record.engine);
    const { host, label } = record.handle;
    const isHere = isAlive(record);
    if (isHere) writeFileSync(join(folder, 'why'), 'asked', { mode: 0o600 });
    if (host !== null) await ssh(host, endElsewhere(label));
    writeFileSync(join(folder, 'why'), 'asked', { mode: 0o600 });
    await endGroup(record);
  },

  log: async ({ engine }, { records }) => tailOf(fileOr(join(records.folder(engine), 'log.txt')) ?? ''),
};

const WHY: Readonly<Record<string, string>> = {
  asked: 'It was stopped',
  idle: ENDED_IDLE,
  time: 'It was stopped because it had been up for its longest time',
};

function notStarted(cause: unknown): never {
  throw new BraidError('LAUNCHER_FAILED', `The server can't be started: ${startReason(cause, '/bin/sh')}`, {
    cause,
    remedy: 'Nothing is running. Remove the cause and start the server again.',
  });
}

/** What runs here, and what ends the server elsewhere. */
function linesOf(
  launcher: ServerLauncherOf<'command'>,
  { handle, url }: CommandRecord,
  folder: string,
): { command: string; onEnd: string } {
  const { host, command, port, maxHours } = launcher;
  if (host === null) return { command, onEnd: '' };
  const here = portOf(url);
  const tunnel = { here, there: port ?? here };
  const through = (line: string): string => `exec ${sshLine(sshArguments(host, line, tunnel))}`;
  const first = elsewhere(handle.label, Math.ceil(maxHours * 60), command);
  return {
    command: reopening(folder, through(first), through(attachElsewhere(handle.label))),
    onEnd: sshLine(sshArguments(host, endElsewhere(handle.label))),
  };
}

/** After a lost connection: the host itself is asked. */
async function lookElsewhere({ handle }: CommandRecord, host: string, seen: string): Promise<Looked> {
  try {
    await ssh(host, askElsewhere(handle.label));
    return { state: 'unknown', detail: `${seen}. The server on ${host} is still up, without a tunnel: stop it` };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 3) return { state: 'failed', detail: `${seen}. The server on ${host} isn't up any more` };
    return { state: 'unknown', detail: `${seen}. ${host} can't be asked, so the server there may still be up` };
  }
}

/** Runs a line on a host. */
async function ssh(host: string, line: string): Promise<void> {
  try {
    await run('ssh', [...sshArguments(host, line)], { timeout: SSH_MS });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    // The line's own answer; 255 is ssh's.
    if (typeof code === 'number' && code !== 255) throw error;
    throw new BraidError('SSH_FAILED', `${host} can't be reached by ssh: ${stderr.trim() || String(code)}`, {
      cause: error,
      remedy: `Try "ssh ${host}" in a terminal: it must log in without a question. The server there may still be up.`,
    });
  }
}

async function endGroup(record: CommandRecord): Promise<void> {
  const { pid } = record.handle;
  if (pid === null || !isAlive(record)) return;
  // It was this server's group just now, and stays so for as long as any process is in it.
  for (const [signal, forMs] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', 2000],
  ] as const) {
    if (!signalGroup(pid, signal)) return;
    const until = performance.now() + forMs;
    while (signalGroup(pid, 0) && performance.now() < until) await sleep(50);
  }
}

/** Whether its process, or anything that it has started, is alive. A process id may be another's after a restart. */
function isAlive({ handle: { pid, hostId }, startedAt }: CommandRecord): boolean {
  if (pid === null) return false;
  const leader = identityOf(pid);
  if (!signalGroup(pid, 0)) return false;
  // A start time counts from the machine's own start, whatever its clock was set to since.
  if (!leader.endsWith(':')) return leader === hostId;
  // Without one the leader is gone, and others of its group may be left.
  return !isBeforeBoot(startedAt);
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function fileOr(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function lastLine(folder: string, before: string): string {
  const last = (fileOr(join(folder, 'log.txt')) ?? '').trimEnd().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? '' : `${before}${last.slice(0, 300)}`;
}
