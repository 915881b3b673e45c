/** A program that reads and writes lines: it is started once and kept. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReason } from '../io/start-reason.ts';
import { killGroup, startGroup } from './process-group.ts';

/** The most characters of a line. */
const MAX_LINE = 2 ** 20;
const KEPT_STDERR = 400;
/** Between the end of its input and being killed. */
const GRACE_MS = 1000;

interface Heard {
  readonly onLine: (line: string) => void;
  readonly onLongLine: (why: string) => void;
  /** Why it has ended, or can't be started. */
  readonly onEnd: (why: string) => void;
}

export function startProgram(command: readonly string[], folder: string, heard: Heard): ChildProcess {
  const { onLine, onLongLine, onEnd } = heard;
  const child = startGroup(command, folder, 'pipe');
  let [partial, stderr] = ['', ''];
  child.on('error', (error) => onEnd(`can't be started: ${startReason(error, command[0] ?? '')}`));
  child.on('close', (code, signal) => {
    const said = stderr.trim();
    onEnd(`ended ${signal === null ? `with code ${code}` : `by ${signal}`}${said === '' ? '' : `: ${said}`}`);
  });
  // Writing to a process that has ended is noticed by its end. Without a free file descriptor a child has no pipes.
  child.stdin?.on('error', () => undefined);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR);
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (partial + text).split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
    if (partial.length > MAX_LINE) onLongLine('wrote a line of more than 1 MiB');
  });
  return child;
}

/** Ends its input and waits a moment for it, unless it has ended. */
export async function endProgram(child: ChildProcess, hasEnded: boolean): Promise<void> {
  child.stdin?.end();
  if (!hasEnded) await Promise.race([new Promise((resolve) => child.once('close', resolve)), sleep(GRACE_MS)]);
  killGroup(child);
}
