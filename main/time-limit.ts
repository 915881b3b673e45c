/** A limit of time for code that nothing else can stop, such as a regular expression that somebody else wrote. */
import { type Context, createContext, Script } from 'node:vm';

/** Only what a script of this module runs has a limit: this one calls what is given. */
const SCRIPT = new Script('call()');
let context: Context | null = null;

/** Calls a function, which is ended after so many milliseconds; then `late` says what was wrong. Takes some 0.2 ms. */
export function withinTime<T>(milliseconds: number, call: () => T, late: () => Error): T {
  context ??= createContext({});
  const before: unknown = context.call;
  context.call = call;
  try {
    return SCRIPT.runInContext(context, { timeout: Math.ceil(milliseconds) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw late();
    throw error;
  } finally {
    context.call = before;
  }
}
