/** What attention adds for the distance between two tokens. */

/** Tokens as far apart as this, and further, share MPNet's last bucket. */
const FURTHEST = 128;

/**
 * The bucket of a distance, key less query (T5, Raffel et al. 2020, as MPNet has it): half of the buckets are for keys
 * that follow; near distances have one each, far ones share them by their logarithm.
 */
export function biasBucket(distance: number, buckets: number): number {
  const half = buckets / 2;
  const after = distance > 0 ? half : 0;
  const size = Math.abs(distance);
  const exact = half / 2;
  if (size < exact) return after + size;
  const far = Math.floor((Math.log(size / exact) / Math.log(FURTHEST / exact)) * (half - exact));
  return after + Math.min(half - 1, exact + far);
}

/**
 * The bucket of a distance, query less key, from -span to span (He et al. 2021, DeBERTa v3's code): near distances are
 * their own, far ones share by their logarithm.
 */
function logarithmicBucket(distance: number, span: number, furthest: number): number {
  const middle = Math.floor(span / 2);
  const size = Math.abs(distance);
  if (size <= middle) return distance;
  const far = Math.ceil((Math.log(size / middle) / Math.log((furthest - 1) / middle)) * (middle - 1)) + middle;
  return Math.sign(distance) * far;
}

/** The row of a distance among the 2 · span vectors. */
export function distanceRow(distance: number, span: number, furthest: number | null): number {
  const bucket = furthest === null ? distance : logarithmicBucket(distance, span, furthest);
  return Math.min(2 * span - 1, Math.max(0, bucket + span));
}
