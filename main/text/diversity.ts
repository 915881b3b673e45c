/** Diversity of a set of texts, which the polychromic methods add to the reward. */
import { plainWords } from './terms.ts';

const ORDERS = [1, 2, 3] as const;

/** The n-gram sets of a text, computed once however many pairs it is in. */
export type NgramSets = readonly ReadonlySet<string>[];

/** The n-grams of a text, one to three words, ignoring case and punctuation. */
export function ngramSets(text: string): NgramSets {
  const words = plainWords(text);
  return ORDERS.map((n) => {
    const grams = new Set<string>();
    for (let i = 0; i + n <= words.length; i++) grams.add(words.slice(i, i + n).join(' '));
    return grams;
  });
}

/**
 * 0 for two texts of the same n-grams, 1 for two that share no word: 1 − the Dice coefficient 2|A ∩ B| / (|A| + |B|),
 * averaged over the orders that either text is long enough for. Two empty texts have distance 0.
 */
export function distance(a: NgramSets, b: NgramSets): number {
  let sum = 0;
  let orders = 0;
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? new Set<string>();
    if (left.size + right.size === 0) continue;
    let shared = 0;
    for (const gram of left) if (right.has(gram)) shared++;
    sum += 1 - (2 * shared) / (left.size + right.size);
    orders++;
  }
  return orders === 0 ? 0 : sum / orders;
}

/** D of a set: the mean distance of its pairs, 0 when all are equal; 0 for fewer than two texts. */
export function setDiversity(set: readonly NgramSets[]): number {
  let sum = 0;
  let pairs = 0;
  set.forEach((a, i) => {
    for (const b of set.slice(i + 1)) {
      sum += distance(a, b);
      pairs++;
    }
  });
  return pairs === 0 ? 0 : sum / pairs;
}
