/** The exact answer: A1 B1 A2 B2 … */

/** Two word sequences in turn; when one is longer, the rest of it follows. */
export function interleaveWords(a: readonly string[], b: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [fromA, fromB] = [a[i], b[i]];
    if (fromA !== undefined) out.push(fromA);
    if (fromB !== undefined) out.push(fromB);
  }
  return out;
}
