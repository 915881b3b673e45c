/**
 * BLEU of one sentence (Papineni et al. 2002) and Self-BLEU of a set (Zhu et al. 2018, Texygen, arXiv 1802.01886):
 * equal to nltk 3.10's `sentence_bleu` with uniform weights and smoothing method 1 (an order without a match counts
 * as 0.1 matches; no match of single words at all gives 0).
 */

/** n-grams up to this length, as Texygen's default. */
const BLEU_ORDER = 3;
const EPSILON = 0.1;

type Counts = ReadonlyMap<string, number>;

/** A text as its n-gram counts by order, so that a set is counted once. */
interface Counted {
  readonly length: number;
  /** Of order n at n − 1. */
  readonly orders: readonly Counts[];
}

/** BLEU of a hypothesis against its references, 0 to 1. */
export function sentenceBleu(
  references: readonly (readonly string[])[],
  hypothesis: readonly string[],
  order: number = BLEU_ORDER,
): number {
  return bleu(
    references.map((words) => counted(words, order)),
    counted(hypothesis, order),
  );
}

/** Mean BLEU of each text against all others: 1 when all are equal. NaN for fewer than two texts. */
export function selfBleu(texts: readonly (readonly string[])[], order: number = BLEU_ORDER): number {
  if (texts.length < 2) return Number.NaN;
  const all = texts.map((words) => counted(words, order));
  const sum = all.reduce(
    (total, text, i) =>
      total +
      bleu(
        all.filter((_, j) => j !== i),
        text,
      ),
    0,
  );
  return sum / texts.length;
}

function counted(words: readonly string[], order: number): Counted {
  return { length: words.length, orders: Array.from({ length: order }, (_, i) => ngramCounts(words, i + 1)) };
}

function ngramCounts(words: readonly string[], n: number): Counts {
  const counts = new Map<string, number>();
  for (let i = 0; i + n <= words.length; i++) {
    // A word can't contain a line break, so joined n-grams can't be confused.
    const gram = words.slice(i, i + n).join('\n');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

function bleu(references: readonly Counted[], hypothesis: Counted): number {
  if (hypothesis.length === 0 || references.length === 0) return 0;
  let logs = 0;
  for (const [i, counts] of hypothesis.orders.entries()) {
    const matched = matches(
      counts,
      references.map(({ orders }) => orders[i] ?? new Map()),
    );
    if (i === 0 && matched === 0) return 0;
    const total = Math.max(1, hypothesis.length - i);
    logs += Math.log((matched === 0 ? EPSILON : matched) / total) / hypothesis.orders.length;
  }
  return brevityPenalty(references, hypothesis.length) * Math.exp(logs);
}

/** n-grams of the hypothesis that a reference has, each clipped to its highest count in any one reference. */
function matches(counts: Counts, references: readonly Counts[]): number {
  let sum = 0;
  for (const [gram, count] of counts) {
    let most = 0;
    for (const reference of references) most = Math.max(most, reference.get(gram) ?? 0);
    sum += Math.min(count, most);
  }
  return sum;
}

/** Against the reference whose length is nearest, the shorter of two. */
function brevityPenalty(references: readonly Counted[], length: number): number {
  const nearest = references
    .map((reference) => reference.length)
    .reduce((best, other) => {
      const [far, near] = [Math.abs(other - length), Math.abs(best - length)];
      return far < near || (far === near && other < best) ? other : best;
    });
  return length > nearest ? 1 : Math.exp(1 - nearest / length);
}
