/** How much a completion, or a group of completions, repeats itself: the signal for the collapse watch. */

/** The share of n-grams that repeat an earlier one of the same text: 0 none, near 1 a loop. */
export function repetition(words: readonly string[], n = 4): number {
  const { total, distinct } = ngramCounts([words], n);
  return total === 0 ? 0 : 1 - distinct / total;
}

/** distinct-n (Li et al. 2016, section 5): different n-grams / all n-grams over several texts; 1 when there are none. */
export function distinctN(texts: readonly (readonly string[])[], n: number): number {
  const { total, distinct } = ngramCounts(texts, n);
  return total === 0 ? 1 : distinct / total;
}

function ngramCounts(texts: readonly (readonly string[])[], n: number): { total: number; distinct: number } {
  const seen = new Set<string>();
  let total = 0;
  for (const words of texts) {
    for (let i = 0; i + n <= words.length; i++) {
      // A word can't contain a line break, so joined n-grams can't be confused.
      seen.add(words.slice(i, i + n).join('\n'));
      total++;
    }
  }
  return { total, distinct: seen.size };
}
