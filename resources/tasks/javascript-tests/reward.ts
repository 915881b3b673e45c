import { type Answer, runJavaScript } from 'braid';

/** The program runs in a sandbox of its own: it can't see the tests, nor change how it is judged. */
export function reward({ record, completion }: Answer<{ tests: [string, unknown][] }>): Record<string, number> {
  const program = /```(?:js|javascript)?[^\S\n]*\n([\s\S]*?)```/i.exec(completion)?.[1] ?? completion;
  const results = runJavaScript(
    program,
    record.tests.map(([expression]) => expression),
  );
  const passed = record.tests.filter(([, expected], i) => same(results[i]?.value, expected)).length;
  return { passed: passed / record.tests.length, all: passed === record.tests.length ? 1 : 0 };
}

function same(value: unknown, expected: unknown): boolean {
  return value !== undefined && sorted(value) === sorted(expected);
}

/** As JSON; the order of an object's fields isn't part of its value. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
