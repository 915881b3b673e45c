/** Tests a program that a model wrote: in a sandbox of its own, so that it can't change the reward that judges it. */
import type { QuickJSWASMModule } from 'quickjs-emscripten-core';
import type { RewardLimits } from './messages.ts';
import { openEngine, openSandbox, SandboxFault } from './quickjs.ts';

/** What an expression gave: its value as JSON has it, or why there is none. */
export type CallOutcome = { readonly value: unknown } | { readonly error: string };

export interface ProgramRunner {
  /** Runs a program, then evaluates each expression after it. They share the time of one limit. */
  run(program: string, expressions: readonly string[]): readonly CallOutcome[];
  /** Renews what a program has broken: to be awaited before the next `run`. */
  repair(): Promise<void>;
}

/** Opens a runner; its limits are those of one call of the reward. */
export async function openProgramRunner(limits: RewardLimits): Promise<ProgramRunner> {
  let engine: QuickJSWASMModule | null = await openEngine(limits.memoryMb);

  function run(program: string, expressions: readonly string[]): readonly CallOutcome[] {
    if (engine === null) return expressions.map(() => ({ error: 'an earlier program used up the call stack' }));
    const sandbox = openSandbox(engine, limits.memoryMb);
    const timeMs = limits.timeMs / (expressions.length + 1);
    const evaluate = (code: string): unknown =>
      sandbox.within(timeMs, 'program.js', () => {
        const handle = sandbox.unwrap(sandbox.context.evalCode(code, 'program.js'));
        return handle.consume((value): unknown => sandbox.context.dump(value));
      });
    try {
      evaluate(program);
      return expressions.map((expression) => {
        try {
          return { value: evaluate(`(${expression}\n)`) };
        } catch (error) {
          return { error: reasonOf(error) };
        }
      });
    } catch (error) {
      return expressions.map(() => ({ error: reasonOf(error) }));
    } finally {
      if (!sandbox.dispose()) engine = null;
    }
  }

  return {
    run,
    repair: async () => {
      engine ??= await openEngine(limits.memoryMb);
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof SandboxFault) return error.message;
  throw error;
}
