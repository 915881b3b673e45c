/**
 * What a test file leaves behind goes when the file ends. A helper can't ask for that itself where files share a process:
 * it is imported once, so its hooks would run after the first file only.
 */
const endings: (() => unknown)[] = [];

/** Calls it once the test file ends, the last one first; may be asked for inside a test or hook too. */
export function atEndOfFile(end: () => unknown): void {
  endings.push(end);
}

export async function endFile(): Promise<void> {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}
