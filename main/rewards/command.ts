/**
 * A command: a process that reads completions and writes scores, one JSON object a line. It is started with the first
 * batch and kept, as it may load a model. Answers carry the completion's id and may come in any order.
 */
import { rmSync } from 'node:fs';
import { partsOf } from '../lists.ts';
import { type CommandFiles, filesOf } from '../tasks/external/access.ts';
import type { Outcome } from '../tasks/external/messages.ts';
import type { CommandSpec } from '../tasks/external/spec.ts';
import type { Answer } from '../tasks/task.ts';
import { asRequest, type Component, checkedScore, shownValue } from './component.ts';
import { statedError } from './endpoint.ts';
import { endProgram, startProgram } from './line-program.ts';
import { folderOf, killGroup } from './process-group.ts';
import { parsePythonJson } from './python-json.ts';

/** Opens a command without a process yet. It runs in a folder of its own, with the files that were agreed to. */
export function openCommand(spec: CommandSpec, all: CommandFiles): Component {
  const folder = folderOf(filesOf(spec, all));
  let running: Running | null = null;
  /** No id is used twice: an answer that comes late must not count for another completion. */
  let firstId = 0;

  /** The outcomes by id; whoever is missing wasn't answered, for the reason that is given. */
  const attempt = async (answers: readonly (readonly [number, Answer])[]) => {
    running ??= startCommand(spec, folder);
    const { outcomes, failure } = await running.exchange(answers);
    if (failure !== null) {
      running.kill();
      running = null;
    }
    return { outcomes, failure };
  };

  const scorePart = async (answers: readonly Answer[]): Promise<readonly Outcome[]> => {
    const outcomes = new Map<number, Outcome>();
    const ids = answers.map((_, i) => firstId + i);
    firstId += answers.length;
    let waiting = answers.map((answer, i) => [ids[i] ?? 0, answer] as const);
    let reason = '';
    // A process that died over one completion is started once more for the others.
    for (let round = 0; round < 2 && waiting.length > 0; round++) {
      const { outcomes: more, failure } = await attempt(waiting);
      for (const [id, outcome] of more) outcomes.set(id, outcome);
      waiting = waiting.filter(([id]) => !outcomes.has(id));
      if (failure !== null) reason = failure.reason;
      if (failure !== null && !failure.restart) break;
    }
    return ids.map((id) => outcomes.get(id) ?? reason);
  };

  return {
    score: async (answers) => {
      const parts: (readonly Outcome[])[] = [];
      for (const part of partsOf(answers, spec.batch_size)) parts.push(await scorePart(part));
      return { outcomes: parts.flat(), cost: null, cached: null };
    },
    close: async () => {
      await running?.end();
      running = null;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Failure {
  readonly reason: string;
  /** Whether a new process may do better. */
  readonly restart: boolean;
}

interface Exchange {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  /** null: every completion was answered. */
  readonly failure: Failure | null;
}

interface Running {
  exchange(answers: readonly (readonly [number, Answer])[]): Promise<Exchange>;
  kill(): void;
  /** Ends its input and waits a moment for it. */
  end(): Promise<void>;
}

function startCommand(spec: CommandSpec, folder: string): Running {
  const { command, timeout_s } = spec;
  let onLine: (line: string) => void = () => undefined;
  let onEnd: (why: string) => void = () => undefined;
  let ended: string | null = null;
  const end = (why: string): void => {
    ended ??= why;
    onEnd(ended);
  };
  const child = startProgram(command, folder, { onLine: (line) => onLine(line), onLongLine: end, onEnd: end });

  const exchange = (answers: readonly (readonly [number, Answer])[]): Promise<Exchange> =>
    new Promise((resolve) => {
      const outcomes = new Map<number, Outcome>();
      const asked = new Set(answers.map(([id]) => id));
      const finish = (failure: Failure | null): void => {
        clearTimeout(timer);
        onLine = onEnd = () => undefined;
        resolve({ outcomes, failure });
      };
      const fail = (reason: string, restart: boolean): void => finish({ reason: `the command ${reason}`, restart });
      const timer = setTimeout(() => fail(`gave no answer within ${timeout_s} s`, false), timeout_s * 1000);
      onLine = (line) => {
        const answer = parseAnswer(line, asked);
        if ('fault' in answer) return fail(answer.fault, false);
        if (outcomes.has(answer.id)) return fail(`answered id ${answer.id} twice`, false);
        outcomes.set(answer.id, answer.outcome);
        if (outcomes.size === asked.size) finish(null);
      };
      onEnd = (why) => fail(`${why}${outcomes.size === 0 ? neverRead(why) : ''}`, !why.startsWith("can't"));
      if (ended !== null) return onEnd(ended);
      child.stdin?.write(answers.map(([id, answer]) => `${JSON.stringify(asRequest(answer, id, spec))}\n`).join(''));
    });

  return {
    exchange,
    kill: () => killGroup(child),
    end: () => endProgram(child, ended !== null),
  };
}

/** What a file of functions alone does: nothing, and successfully. */
function neverRead(why: string): string {
  if (!why.startsWith('ended with code 0')) return '';
  return '. It has to read completions as lines and answer each; the template python-functions calls the functions of a file';
}

type ParsedAnswer = { readonly id: number; readonly outcome: Outcome } | { readonly fault: string };

function parsedLine(line: string): unknown {
  try {
    return parsePythonJson(line);
  } catch {
    return undefined;
  }
}

function parseAnswer(line: string, asked: ReadonlySet<number>): ParsedAnswer {
  const value = parsedLine(line);
  if (value === undefined)
    return { fault: `wrote a line that isn't JSON (messages belong to the error output): ${shownValue(line)}` };
  const { id, score } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown; score?: unknown };
  if (typeof id !== 'number' || !asked.has(id))
    return { fault: `answered an id that was not asked: ${shownValue(value)}` };
  return { id, outcome: statedError(value) ?? checkedScore(score) };
}
