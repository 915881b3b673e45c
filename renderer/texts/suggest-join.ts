/** Which short texts could be joined so that more texts serve a stage. Pure. */

export interface JoinCandidate {
  readonly id: number;
  readonly title: string;
  readonly source: string;
  readonly words: number;
}

/**
 * Groups of texts that are too short for `words`, each long enough together: at most `count`. Texts of one source
 * come together, in the order of their arrival, because a chapter's next page is the next text.
 */
export function suggestJoin<T extends JoinCandidate>(texts: readonly T[], words: number, count: number): T[][] {
  const short = texts.filter((text) => text.words < words);
  const bySource = Map.groupBy(short, (text) => text.source);
  const groups: T[][] = [];
  let open: T[] = [];
  let sum = 0;
  for (const text of [...bySource.values()].flat()) {
    if (groups.length === count) break;
    open.push(text);
    sum += text.words;
    if (sum < words || open.length < 2) continue;
    groups.push(open);
    open = [];
    sum = 0;
  }
  return groups;
}
