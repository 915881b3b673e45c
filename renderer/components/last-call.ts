/**
 * Keeps the newest result of a pure function of many items. A screen that is opened again, or was prerendered, doesn't
 * compute ten thousand rows again.
 */
export function lastCall<Input extends readonly unknown[], Result>(
  compute: (input: Input) => Result,
): (input: Input) => Result {
  let last: { readonly input: Input; readonly result: Result } | null = null;
  return (input) => {
    if (last === null || !isSame(last.input, input)) last = { input, result: compute(input) };
    return last.result;
  };
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((item, i) => Object.is(item, now[i]));
}
