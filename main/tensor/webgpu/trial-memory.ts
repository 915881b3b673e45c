/** How much memory a device has, where nobody tells: allocated piece by piece until a piece is refused. */

/** Smaller pieces find the rest once a whole one is refused. */
const SMALLEST_SHARE = 8;

/** Bytes that `allocate` granted, `most` at most, from `step` bytes at a time down to an eighth of that. */
export async function trialAllocation(
  step: number,
  most: number,
  allocate: (bytes: number) => Promise<boolean>,
): Promise<number> {
  let total = 0;
  for (let piece = step; piece >= step / SMALLEST_SHARE; piece /= 2)
    while (total + piece <= most && (await allocate(piece))) total += piece;
  return total;
}
