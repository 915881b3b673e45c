/** Suggests short texts to merge, so that a stage gets more texts. Pure. */

export interface JoinCandidate {
  readonly id: number;
  readonly title: string;
  readonly source: string;
  readonly words: number;
}

/**
 * At most `count` groups of texts that are too short for `words` alone but long enough together. Texts of one source
 * are grouped in import order, because the next text is often the next page of a chapter.
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
