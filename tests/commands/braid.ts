/** The braid command as a user runs it: a separate process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { BRAID } from '../processes/paths.ts';

export interface BraidRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A braid command at work. */
export interface LiveBraid {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Closes its terminal: nothing it writes is read any more, and the kernel and the shell signal the whole group. */
  hangUp(): void;
  readonly ended: Promise<BraidRun>;
}

/** Starts `braid ARGUMENTS`, the leader of a process group as in a terminal. */
export function startBraid(args: readonly string[]): LiveBraid {
  const child = spawn(process.execPath, [BRAID, ...args], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<BraidRun>((done) => child.on('close', (code) => done({ code, ...output })));
  const hangUp = (): void => {
    child.stdout.destroy();
    child.stderr.destroy();
    for (let sent = 0; sent < 2; sent++) process.kill(-(child.pid ?? 0), 'SIGHUP');
  };
  return { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), hangUp, ended };
}

/** Runs `braid ARGUMENTS`; `interruptAfter` sends SIGINT to the host process that many milliseconds after its start. */
export function braid(args: readonly string[], interruptAfter?: number): Promise<BraidRun> {
  const live = startBraid(args);
  if (interruptAfter !== undefined) setTimeout(() => live.kill('SIGINT'), interruptAfter);
  return live.ended;
}

/** Runs `braid ARGUMENTS` with `input` in `home`, with a user configuration and a workspace of its own there. */
export function braidAt(home: string, input: string, ...args: readonly string[]): Promise<BraidRun> {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), BRAID_WORKSPACE: join(home, 'ws') };
  const child = spawn(process.execPath, [BRAID, ...args], { env, cwd: home });
  child.stdin.end(input);
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece) => (texts.stdout += piece));
  child.stderr.on('data', (piece) => (texts.stderr += piece));
  return new Promise((done) => child.on('close', (code) => done({ code, ...texts })));
}
