/** pass@k: the chance that at least one of k samples passes. */

/**
 * The unbiased estimate from n samples of which c passed (Chen et al. 2021, arXiv 2107.03374, section 2.1):
 * 1 − C(n−c, k) / C(n, k), as a product that is exact where the binomials would overflow.
 */
export function passAtK(n: number, c: number, k: number): number {
  for (const [name, value, least] of [
    ['n', n, 1],
    ['c', c, 0],
    ['k', k, 1],
  ] as const)
    if (!Number.isInteger(value) || value < least)
      throw new RangeError(`Expected "${name}" to be a whole number of at least ${least}, got ${value}`);
  if (c > n) throw new RangeError(`Expected at most ${n} samples to pass, got ${c}`);
  if (k > n) throw new RangeError(`Expected k to be at most the ${n} samples of a prompt, got ${k}: draw more samples`);
  if (n - c < k) return 1;
  let none = 1;
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}
