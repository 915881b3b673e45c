/** Runs programs that a model wrote, on a thread of their own (program-thread.ts), each in a sandbox of its own. */
import type { QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { DEEPEST_JSON, nestingOf } from '../../text/json-nesting.ts';
import { SAME_CLOCK } from './fixed-clock.ts';
import { type CallOutcome, type ProgramCall, type ProgramReply, type RewardLimits, resultLength } from './messages.ts';
import { openEngine, openSandbox, type Sandbox, SandboxFault } from './quickjs.ts';

const FILE = 'program.js';

/**
 * A value as JSON, or the length of one that is too long. It is made before a program could change JSON. NaN and Infinity
 * are an error: JSON.stringify writes null, which a test may expect.
 */
const READER = `(() => {
  const { stringify } = JSON;
  const { TypeError } = globalThis;
  const written = (_, part) => {
    if (typeof part === 'number' && part - part !== 0) throw new TypeError('gave ' + part + ', which JSON cannot hold');
    return part;
  };
  return (value, longest) => {
    const text = stringify(value, written);
    return text === undefined || text.length <= longest ? text : text.length;
  };
})()`;

interface Failed {
  readonly error: string;
}

export interface ProgramRunner {
  /** Runs a program, then evaluates each expression after it; its begin and each outcome are reported as they come. */
  run(call: ProgramCall, report: (reply: ProgramReply) => void): Promise<void>;
}

/** Opens a runner, without an engine yet. */
export function openProgramRunner(limits: RewardLimits): ProgramRunner {
  let engine: QuickJSWASMModule | null = null;
  return {
    run: async ({ program, expressions, partMs }, report) => {
      engine ??= await openEngine(limits.memoryMb);
      const sandbox = openSandbox(engine, limits.memoryMb);
      let isSpoiled = false;
      report({ kind: 'begun' });
      const limited = <T>(work: () => T): T | Failed => {
        try {
          return sandbox.within(partMs, FILE, work);
        } catch (error) {
          if (!(error instanceof SandboxFault)) throw error;
          isSpoiled ||= error.spoiled;
          return { error: error.message };
        }
      };
      const evaluate = (code: string): QuickJSHandle => sandbox.unwrap(sandbox.context.evalCode(code, FILE));
      const prepared = limited(() => {
        evaluate(SAME_CLOCK).dispose();
        return { reader: evaluate(READER) };
      });
      const loaded = 'error' in prepared ? prepared : limited(() => evaluate(program).dispose());
      let left = resultLength(limits);
      for (const expression of expressions) {
        const outcome: CallOutcome =
          'error' in prepared
            ? prepared
            : (loaded ?? limited(() => outcomeOf(sandbox, prepared.reader, evaluate(`(${expression}\n)`), left)));
        left -= outcome.json?.length ?? 0;
        report({ kind: 'outcome', outcome });
      }
      if ('reader' in prepared) prepared.reader.dispose();
      // What a limit left behind could fail an innocent program.
      if (!sandbox.dispose() || isSpoiled) engine = null;
    },
  };
}

function outcomeOf(
  { context, unwrap }: Sandbox,
  reader: QuickJSHandle,
  value: QuickJSHandle,
  left: number,
): CallOutcome {
  const longest = context.newNumber(left);
  const read = value.consume((given) => unwrap(context.callFunction(reader, context.undefined, given, longest)));
  const kind = context.typeof(read);
  const length = kind === 'number' ? context.getNumber(read) : 0;
  const json = kind === 'string' ? context.getString(read) : undefined;
  read.dispose();
  if (length > 0) return { error: `gave a value of ${length} characters as JSON, too long to be compared` };
  if (json === undefined) return {};
  if (nestingOf(json) > DEEPEST_JSON) return { error: `gave a value nested in more than ${DEEPEST_JSON} levels` };
  return { json };
}
