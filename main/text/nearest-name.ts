/** What a misspelt name can have meant. */

/** Edits between a name and what was meant by a misspelt one. */
const MOST_EDITS = 3;

/** The name that differs least, if it differs little; the first of several. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const nearest = known
    // A name that differs more in length takes more edits than that.
    .filter((other) => Math.abs(other.length - name.length) <= MOST_EDITS)
    .map((other) => ({ other, edits: editDistance(name, other) }))
    .sort((a, b) => a.edits - b.edits)[0];
  return nearest !== undefined && nearest.edits <= MOST_EDITS ? nearest.other : undefined;
}

/** The end of a message about an unknown name: a question if there is a guess. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : `; did you mean "${name}"?`;
}

/** Levenshtein distance of two short names. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(
        Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
