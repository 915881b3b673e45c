/** Windows as far as `process.platform` says it: for what waits or skips something only there. */
import { onTestFinished, vi } from 'vitest';

/** Until the test ends. */
export function asWindows(): void {
  const real = process.platform;
  const say = (value: NodeJS.Platform): unknown => Object.defineProperty(process, 'platform', { value });
  say('win32');
  onTestFinished(() => void say(real));
}

/** A file function that a virus scanner refuses at first. */
export function refusedAtFirst<F extends (...given: never[]) => unknown>(real: F, code = 'EPERM', times = 1) {
  let left = times;
  return vi.fn((...given: Parameters<F>): ReturnType<F> => {
    if (left-- > 0) throw Object.assign(new Error(`${code}: simulated`), { code, syscall: 'rename' });
    return real(...given) as ReturnType<F>;
  });
}
