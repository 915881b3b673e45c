/**
 * Counter-based random numbers: a value depends only on its coordinates (seed, step, row, position …), not on
 * how many were drawn before. Resuming, splitting a batch or dropping finished rows therefore can't change a run.
 */

/** Mixes one more 32-bit word into a hash (the finaliser constants of MurmurHash3). */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

/** Mixes one more coordinate into a hash. */
function mixCoordinate(hash: number, coordinate: number): number {
  const h = mix(hash, coordinate | 0);
  // Keeps seeds beyond 32 bits distinct.
  return coordinate > 0x7fffffff || coordinate < -0x80000000 ? mix(h, Math.floor(coordinate / 0x100000000)) : h;
}

/** Ends a hash of `count` coordinates: 32 unsigned bits. */
function finish(hash: number, count: number): number {
  let h = hash ^ (count * 4);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const START = 0x9747b28c;

/** A 32-bit unsigned hash of the coordinates. */
export function hash32(...coordinates: readonly number[]): number {
  let h = START;
  for (const c of coordinates) h = mixCoordinate(h, c);
  return finish(h, coordinates.length);
}

/** A uniform number in [0, 1) with 32 random bits, determined by its coordinates. */
export function uniform(...coordinates: readonly number[]): number {
  return hash32(...coordinates) / 0x100000000;
}

/** A stream of uniforms under fixed coordinates: the n-th value is `uniform(hash32(...coordinates), n)`. */
export interface RandomStream {
  next(): number;
  /** A whole number in [0, n). */
  below(n: number): number;
}

/** Opens the stream of the given coordinates. */
export function randomStream(...coordinates: readonly number[]): RandomStream {
  // Mixed once: a bootstrap draws millions.
  const base = mixCoordinate(START, hash32(...coordinates));
  let n = 0;
  const next = (): number => finish(mixCoordinate(base, n++), 2) / 0x100000000;
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/** A 32-bit hash of a string, to turn a name into a coordinate. */
export function hashString(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = mix(h, text.charCodeAt(i));
  return h >>> 0;
}

/** A shuffled copy (Fisher-Yates), using the stream. */
export function shuffled<T>(items: readonly T[], stream: RandomStream): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = stream.below(i + 1);
    const a = out[i] as T;
    out[i] = out[j] as T;
    out[j] = a;
  }
  return out;
}
