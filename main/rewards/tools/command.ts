/**
 * A tool that a command answers: a process that reads `{"id", "name", "arguments"}`, a line each, and writes `{"id",
 * "result"}` or `{"id", "error"}` in any order. It is started with the first call and kept.
 */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseJsonExactly } from '../../io/json.ts';
import { type CommandFiles, filesOf } from '../../tasks/external/access.ts';
import type { CallResult } from '../../tasks/external/tool-messages.ts';
import { shownValue } from '../component.ts';
import { endProgram, startProgram } from '../line-program.ts';
import { folderOf, killGroup } from '../process-group.ts';
import { parsePythonJson } from '../python-json.ts';
import { resultIn, type ToolServer } from './result.ts';

interface ToolCommand {
  readonly command: readonly string[];
  readonly files: readonly string[];
  readonly timeout_s: number;
}

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
      if (running !== null) await endProgram(running.child, running.ended !== null);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function start({ command }: ToolCommand, folder: string): Running {
  const fail = (why: string): void => {
    end(running, why);
    killGroup(child);
  };
  const child = startProgram(command, folder, {
    onLine: (line) => {
      const fault = hear(running, line);
      if (fault !== null) fail(fault);
    },
    onLongLine: fail,
    onEnd: (why) => end(running, why),
  });
  const running: Running = { child, waiting: new Map(), ended: null };
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
    // The model reads what the tool wrote: no digit of an id is rounded.
    return parsePythonJson(line, parseJsonExactly);
  } catch {
    return undefined;
  }
}
