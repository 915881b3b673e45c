/** The braid command as a person runs it: a process of its own. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export interface BraidRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CLI = resolve(import.meta.dirname, '../../main/braid.ts');

/** A braid command at work. */
export interface LiveBraid {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<BraidRun>;
}

/** Starts `braid ARGUMENTS`. */
export function startBraid(args: readonly string[]): LiveBraid {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<BraidRun>((done) => child.on('close', (code) => done({ code, ...output })));
  return { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), ended };
}

/** Runs `braid ARGUMENTS`; `interruptAfter` sends SIGINT to the host process that many milliseconds after its start. */
export function braid(args: readonly string[], interruptAfter?: number): Promise<BraidRun> {
  const live = startBraid(args);
  if (interruptAfter !== undefined) setTimeout(() => live.kill('SIGINT'), interruptAfter);
  return live.ended;
}
