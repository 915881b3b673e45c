/**
 * A tool that a command answers: a process that reads `{"id", "name", "arguments"}`, a line each, and writes `{"id",
 * "result"}` or `{"id", "error"}` in any order. It is started with the first call and kept.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReason } from '../../io/start-reason.ts';
import { type CommandFiles, filesOf } from '../../tasks/external/access.ts';
import type { CallResult } from '../../tasks/external/tool-messages.ts';
import { shownValue } from '../component.ts';
import { folderOf, killGroup } from '../process-group.ts';
import { MOST_RESULT, resultIn, type ToolServer } from './result.ts';

interface ToolCommand {
  readonly command: readonly string[];
  readonly files: readonly string[];
  readonly timeout_s: number;
}

const KEPT_STDERR = 400;
/** Between the end of its input and being killed. */
const GRACE_MS = 1000;

interface Running {
  readonly child: ChildProcess;
  readonly waiting: Map<number, (result: CallResult) => void>;
  /** Why it has ended; null: it lives. */
  ended: string | null;
}

/** Opens it without a process yet. It runs in a folder of its own, with the files that were agreed to. */
export function openToolCommand(spec: ToolCommand, all: CommandFiles): ToolServer {
  const folder = folderOf(filesOf(spec, all));
  let running: Running | null = null;
  let last = 0;
  return {
    call: (name, given) => {
      // One that has ended is started again: it may have died of one call.
      if (running === null || running.ended !== null) running = start(spec, folder);
      const { child, waiting } = running;
      const [own, id] = [running, last++];
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          end(own, `gave no answer within ${spec.timeout_s} s`);
          killGroup(child);
        }, spec.timeout_s * 1000);
        waiting.set(id, (result) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(result);
        });
        if (own.ended !== null) end(own, own.ended);
        else child.stdin?.write(`${JSON.stringify({ id, name, arguments: given })}\n`);
      });
    },
    close: async () => {
      const child = running?.child;
      child?.stdin?.end();
      if (child !== undefined && running?.ended === null)
        await Promise.race([new Promise((resolve) => child.once('close', resolve)), sleep(GRACE_MS)]);
      if (child !== undefined) killGroup(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function start({ command }: ToolCommand, folder: string): Running {
  const [program = '', ...args] = command;
  // A group of its own, so that whatever it starts ends with it.
  const child = spawn(program, args, { cwd: folder, stdio: 'pipe', detached: process.platform !== 'win32' });
  const running: Running = { child, waiting: new Map(), ended: null };
  const fail = (why: string): void => {
    end(running, why);
    killGroup(child);
  };
  let [partial, stderr] = ['', ''];
  child.on('error', (error) => end(running, `can't be started: ${startReason(error, program)}`));
  child.on('close', (code, signal) => {
    const said = stderr.trim();
    end(running, `ended ${signal === null ? `with code ${code}` : `by ${signal}`}${said === '' ? '' : `: ${said}`}`);
  });
  // Writing to a process that has ended is noticed by its end. Without a free file descriptor a child has no pipes.
  child.stdin?.on('error', () => undefined);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR);
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (partial + text).split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) {
      const fault = line.trim() === '' ? null : hear(running, line);
      if (fault !== null) fail(fault);
    }
    if (partial.length > MOST_RESULT) fail('wrote a line of more than 1 MiB');
  });
  return running;
}

/** Gives a line to whoever waits for it; what is wrong with it, or null. */
function hear({ waiting }: Running, line: string): string | null {
  const value = parsed(line);
  const { id } = (typeof value === 'object' && value !== null ? value : {}) as { readonly id?: unknown };
  if (value === undefined)
    return `wrote a line that isn't JSON (messages belong to the error output): ${shownValue(line)}`;
  const answer = typeof id === 'number' ? waiting.get(id) : undefined;
  if (answer === undefined) return `answered an id that was not asked: ${shownValue(value)}`;
  const result = resultIn(value);
  if (result === null) return `expected {"id", "result"} or {"id", "error"}, got ${shownValue(value)}`;
  answer(result);
  return null;
}

function end(running: Running, why: string): void {
  running.ended ??= why;
  for (const answer of [...running.waiting.values()]) answer({ failure: `the command ${running.ended}` });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
