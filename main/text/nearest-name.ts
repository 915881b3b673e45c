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

/** Levenshtein distance where it is at most MOST_EDITS, otherwise more than that: it looks no further off the diagonal. */
function editDistance(a: string, b: string): number {
  const far = MOST_EDITS + 1;
  let row = Array.from({ length: b.length + 2 }, (_, j) => (j <= MOST_EDITS ? j : far));
  let next = new Array<number>(b.length + 2).fill(far);
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - MOST_EDITS), Math.min(b.length, i + MOST_EDITS)];
    next[from - 1] = from === 1 ? i : far;
    for (let j = from; j <= to; j++) {
      const replaced = (row[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min((next[j - 1] ?? far) + 1, (row[j] ?? far) + 1, replaced);
    }
    next[to + 1] = far;
    [row, next] = [next, row];
  }
  return row[b.length] ?? far;
}
