/**
 * JavaScript that isn't ours, in QuickJS compiled to WebAssembly: a memory of its own, no files, network, process or
 * timers. An endless loop ends at its time limit, memory and recursion at theirs. What remains, a built-in function that
 * never returns, is for whoever waits for this thread to end it (scorer.ts).
 */
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import type { RewardLimits } from './messages.ts';

/** Of QuickJS's own stack. WebAssembly's grows with it, and has the thread's (`stackSizeMb` in scorer.ts). */
const STACK_BYTES = 256 * 1024;

/** An error of code in the sandbox. */
export class SandboxFault extends Error {
  /** Whether the sandbox is fit for further use: not after a limit, whose traces could fail an innocent call. */
  readonly spoiled: boolean;

  constructor(message: string, spoiled: boolean) {
    super(message);
    this.spoiled = spoiled;
  }
}

/** One runtime with its limits. */
export interface Sandbox {
  readonly context: QuickJSContext;
  readonly runtime: QuickJSRuntime;
  /** Runs work with a time limit; throws a `SandboxFault`. `file`: the one that places in messages are of. */
  within<T>(timeMs: number, file: string, work: () => T): T;
  /** Work of the host's that has a limit of its own: meanwhile the time doesn't count. */
  outside<T>(work: () => T): T;
  /** The value of a result; throws what it holds instead. */
  unwrap(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle;
  /** Ends it. False: its engine can't be used any more. */
  dispose(): boolean;
}

/** WebAssembly's unit of memory. */
const PAGE_BYTES = 2 ** 16;
/** What the engine begins with: its own data, its stack, and room for a small program. */
const FIRST_PAGES = 256;

function mostPages(memoryMb: number): number {
  return FIRST_PAGES + Math.ceil((memoryMb * 2 ** 20) / PAGE_BYTES);
}

/**
 * A WebAssembly instance, with nothing in it, that never has more than so much memory besides its own 16 MiB. QuickJS
 * counts an allocation against its limit only by itself, as its build for WebAssembly can't ask for sizes: many small
 * ones would end at the instance's 2 GiB.
 */
export function openEngine(memoryMb: number): Promise<QuickJSWASMModule> {
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: mostPages(memoryMb) });
  return newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory, emscriptenModule: SILENT }));
}

/** It writes on the console when it aborts, which is noticed anyway. */
const SILENT: object = { printErr: () => undefined };

/** Opens a runtime. */
export function openSandbox(engine: QuickJSWASMModule, memoryMb: number): Sandbox {
  const runtime = engine.newRuntime();
  runtime.setMemoryLimit(memoryMb * 2 ** 20);
  runtime.setMaxStackSize(STACK_BYTES);
  let deadline = Number.POSITIVE_INFINITY;
  runtime.setInterruptHandler(() => performance.now() > deadline);
  const context = runtime.newContext();
  let isBroken = false;

  function asFault(error: unknown, file: string, timeMs: number): SandboxFault {
    if (error instanceof SandboxFault) return error;
    if (error instanceof Thrown && isNearFull(engine, memoryMb) && ['', null].includes(error.details as string | null))
      return outOfMemory('', memoryMb);
    if (error instanceof Thrown)
      return describe(error.details, file, { timeMs, memoryMb }, performance.now() > deadline);
    // The thread's own stack ended before QuickJS's: its instance is no longer consistent.
    isBroken = true;
    return new SandboxFault('the call stack is too deep', true);
  }

  return {
    context,
    runtime,
    within: (timeMs, file, work) => {
      deadline = performance.now() + timeMs;
      try {
        return work();
      } catch (error) {
        throw asFault(error, file, timeMs);
      } finally {
        deadline = Number.POSITIVE_INFINITY;
      }
    },
    outside: (work) => {
      const began = performance.now();
      try {
        return work();
      } finally {
        deadline += performance.now() - began;
      }
    },
    unwrap: (result) => {
      if (result.error === undefined) return result.value;
      const details = result.error.consume((handle): unknown => context.dump(handle));
      throw new Thrown(details);
    },
    dispose: () => {
      if (isBroken) return false;
      try {
        context.dispose();
        runtime.dispose();
        return true;
      } catch {
        // It aborts over what a limit left behind.
        return false;
      }
    },
  };
}

function outOfMemory(place: string, memoryMb: number): SandboxFault {
  return new SandboxFault(`${place}needed more than ${memoryMb} MiB of memory`, true);
}

/**
 * Whether an instance has grown about as far as it may: it grows by a twentieth at least. Without memory for an error,
 * QuickJS throws an empty text or null.
 */
function isNearFull(engine: QuickJSWASMModule, memoryMb: number): boolean {
  return engine.getWasmMemory().buffer.byteLength >= 0.9 * mostPages(memoryMb) * PAGE_BYTES;
}

/** A value that code in the sandbox threw. */
class Thrown extends Error {
  readonly details: unknown;

  constructor(details: unknown) {
    super('thrown in the sandbox');
    this.details = details;
  }
}

const LONGEST = 500;

/** `isLate`: its time was over. Interrupted in `then`, QuickJS calls that "not a function". */
function describe(details: unknown, file: string, { timeMs, memoryMb }: RewardLimits, isLate: boolean): SandboxFault {
  const { name, message, stack } = (typeof details === 'object' && details !== null ? details : {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
    readonly stack?: unknown;
  };
  const place = placeIn(stack, file);
  if (message === 'out of memory') return outOfMemory(place, memoryMb);
  if (message === 'stack overflow') return new SandboxFault(`${place}the call stack is too deep`, true);
  const isBuiltIn = typeof stack === 'string' && /^\s*at \S+ \(native\)/.test(stack);
  if ((name === 'InternalError' && message === 'interrupted') || (isLate && isBuiltIn && message === 'not a function'))
    return new SandboxFault(`${place}took longer than ${timeMs} ms`, true);
  const what =
    typeof message === 'string' && typeof name === 'string' ? `${name}: ${message}` : `threw ${shown(details)}`;
  return new SandboxFault(`${place}${what.slice(0, LONGEST)}`, false);
}

/** `reward.ts:12:5: ` of the innermost call in that file; empty if there is none. */
function placeIn(stack: unknown, file: string): string {
  if (typeof stack !== 'string') return '';
  const at = stack.indexOf(`${file}:`);
  const found = at < 0 ? null : /^(\d+):(\d+)/.exec(stack.slice(at + file.length + 1));
  return found === null ? '' : `${file}:${found[1]}:${found[2]}: `;
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, LONGEST);
  } catch {
    return 'a value that cannot be shown';
  }
}
