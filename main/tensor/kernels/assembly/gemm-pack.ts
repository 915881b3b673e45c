/**
 * Packing for the matrix product: an operand seen as `vectors` vectors of K elements (rows of A, columns of B) becomes
 * panels of `width` vectors, each stored [K, width], so that the product reads both operands in order whatever its
 * layout. Vectors past the end are zero.
 */
import { intArg, pointerArg } from './simd';
import { widenLines } from './widen';

/**
 * Tile: a group of panels of one batch item, over a part of K. Parameters: source, its stride between vectors, along K,
 * between batch items (elements); destination; vectors, K, panel width; panels a tile, steps along K a tile; tiles
 * along K, tiles a batch item; whether the source is bfloat16.
 */
export function gemmPack(args: usize, tile: i32, scratch: usize): void {
  const isHalf = intArg(args, 12) != 0;
  const log2Bytes: usize = isHalf ? 1 : 2;
  let vectorStride = <usize>intArg(args, 1) << log2Bytes;
  let depthStride = <usize>intArg(args, 2) << log2Bytes;
  const vectors = intArg(args, 5);
  const depth = intArg(args, 6);
  const width = intArg(args, 7);
  const groupPanels = intArg(args, 8);
  const partSteps = intArg(args, 9);
  const parts = intArg(args, 10);
  const tiles = intArg(args, 11);

  const batch = tile / tiles;
  const panels = (vectors + width - 1) / width;
  const first = ((tile % tiles) / parts) * groupPanels;
  const last = min(panels, first + groupPanels);
  const firstStep = ((tile % tiles) % parts) * partSteps;
  const steps = min(partSteps, depth - firstStep);

  const stepBytes = <usize>width << 2;
  const panelBytes = stepBytes * depth;
  let from = pointerArg(args, 0) + (<usize>batch * intArg(args, 3) << log2Bytes);
  from += <usize>(first * width) * vectorStride + <usize>firstStep * depthStride;
  if (isHalf) {
    const count = min(last * width, vectors) - first * width;
    const isAlong = depthStride == 2;
    if (isAlong) widenLines(from, vectorStride, count, steps, scratch);
    else widenLines(from, depthStride, steps, count, scratch);
    from = scratch;
    vectorStride = isAlong ? <usize>steps << 2 : 4;
    depthStride = isAlong ? 4 : <usize>count << 2;
  }
  let to = pointerArg(args, 4) + <usize>(batch * panels + first) * panelBytes + <usize>firstStep * stepBytes;
  let panel = first;
  if (vectorStride == 4 && (width & 3) == 0) {
    const full = min(last, vectors / width);
    packPanels(from, depthStride, to, panelBytes, width, full - first, steps);
    from += <usize>((full - first) * width) << 2;
    to += <usize>(full - first) * panelBytes;
    panel = full;
  }
  for (; panel < last; panel++) {
    const count = vectors - panel * width;
    packColumns(from, vectorStride, depthStride, to, count, width, steps);
    from += <usize>width * vectorStride;
    to += panelBytes;
  }
}

/** Packs one panel of up to `width` vectors. */
export function packColumns(
  from: usize, vectorStride: usize, depthStride: usize, to: usize, count: i32, width: i32, depth: i32,
): void {
  if (count < width) packStrided(from, vectorStride, depthStride, to, count, width, depth);
  else if (vectorStride == 4) packAcross(from, depthStride, to, width, depth);
  else if (depthStride == 4) packAlong(from, vectorStride, to, width, depth);
  else packStrided(from, vectorStride, depthStride, to, width, width, depth);
}

/**
 * Interleaved vectors (stride 1) of several panels: reads the source in order, and writes whole cache lines, of a panel
 * of four vectors at four steps along K at a time.
 */
function packPanels(
  source: usize, depthStride: usize, target: usize, panelBytes: usize, width: i32, panels: i32, depth: i32,
): void {
  const step = <usize>width << 2;
  let k = 0;
  if (width == 4) {
    for (; k + 4 <= depth; k += 4) {
      let from = source + <usize>k * depthStride;
      let to = target + <usize>k * step;
      for (let panel = 0; panel < panels; panel++) {
        v128.store(to, v128.load(from));
        v128.store(to, v128.load(from + depthStride), 16);
        v128.store(to, v128.load(from + 2 * depthStride), 32);
        v128.store(to, v128.load(from + 3 * depthStride), 48);
        from += 16;
        to += panelBytes;
      }
    }
  }
  for (; k < depth; k++) {
    let from = source + <usize>k * depthStride;
    let to = target + <usize>k * step;
    for (let panel = 0; panel < panels; panel++) {
      for (let lane: usize = 0; lane < step; lane += 16) v128.store(to + lane, v128.load(from + lane));
      from += step;
      to += panelBytes;
    }
  }
}

/** Vectors are interleaved (stride 1): copies four of them, or two, at each step along K. */
function packAcross(source: usize, depthStride: usize, target: usize, width: i32, depth: i32): void {
  const step = <usize>width << 2;
  let lane = 0;
  for (; lane + 4 <= width; lane += 4) {
    let from = source + (lane << 2);
    let to = target + (lane << 2);
    for (let k = 0; k < depth; k++) {
      v128.store(to, v128.load(from));
      from += depthStride;
      to += step;
    }
  }
  for (; lane + 2 <= width; lane += 2) {
    let from = source + (lane << 2);
    let to = target + (lane << 2);
    for (let k = 0; k < depth; k++) {
      store<u64>(to, load<u64>(from));
      from += depthStride;
      to += step;
    }
  }
}

/** Each vector is contiguous along K: transposes four vectors, or two, at a time. */
function packAlong(source: usize, vectorStride: usize, target: usize, width: i32, depth: i32): void {
  const step = <usize>width * 4;
  let lane = 0;
  for (; lane + 4 <= width; lane += 4) {
    packFour(source + <usize>lane * vectorStride, vectorStride, target + (lane << 2), step, depth);
  }
  for (; lane + 2 <= width; lane += 2) {
    packTwo(source + <usize>lane * vectorStride, vectorStride, target + (lane << 2), step, depth);
  }
}

function packFour(source: usize, vectorStride: usize, target: usize, step: usize, depth: i32): void {
  let vector0 = source;
  let vector1 = vector0 + vectorStride;
  let vector2 = vector1 + vectorStride;
  let vector3 = vector2 + vectorStride;
  let k = 0;
  for (; k + 4 <= depth; k += 4) {
    const a = v128.load(vector0);
    const b = v128.load(vector1);
    const c = v128.load(vector2);
    const d = v128.load(vector3);
    const abLow = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const abHigh = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    const cdLow = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const cdHigh = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    v128.store(target, v128.shuffle<f64>(abLow, cdLow, 0, 2));
    v128.store(target + step, v128.shuffle<f64>(abLow, cdLow, 1, 3));
    v128.store(target + 2 * step, v128.shuffle<f64>(abHigh, cdHigh, 0, 2));
    v128.store(target + 3 * step, v128.shuffle<f64>(abHigh, cdHigh, 1, 3));
    vector0 += 16;
    vector1 += 16;
    vector2 += 16;
    vector3 += 16;
    target += 4 * step;
  }
  for (; k < depth; k++) {
    store<f32>(target, load<f32>(vector0), 0);
    store<f32>(target, load<f32>(vector1), 4);
    store<f32>(target, load<f32>(vector2), 8);
    store<f32>(target, load<f32>(vector3), 12);
    vector0 += 4;
    vector1 += 4;
    vector2 += 4;
    vector3 += 4;
    target += step;
  }
}

function packTwo(source: usize, vectorStride: usize, target: usize, step: usize, depth: i32): void {
  let vector0 = source;
  let vector1 = vector0 + vectorStride;
  let k = 0;
  for (; k + 4 <= depth; k += 4) {
    const a = v128.load(vector0);
    const b = v128.load(vector1);
    const low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const high = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    store<i64>(target, v128.extract_lane<i64>(low, 0));
    store<i64>(target + step, v128.extract_lane<i64>(low, 1));
    store<i64>(target + 2 * step, v128.extract_lane<i64>(high, 0));
    store<i64>(target + 3 * step, v128.extract_lane<i64>(high, 1));
    vector0 += 16;
    vector1 += 16;
    target += 4 * step;
  }
  for (; k < depth; k++) {
    store<f32>(target, load<f32>(vector0), 0);
    store<f32>(target, load<f32>(vector1), 4);
    vector0 += 4;
    vector1 += 4;
    target += step;
  }
}

/** Any strides, and the last panel, of which only `count` vectors exist. */
function packStrided(
  source: usize, vectorStride: usize, depthStride: usize, target: usize, count: i32, width: i32, depth: i32,
): void {
  for (let k = 0; k < depth; k++) {
    let from = source + <usize>k * depthStride;
    let lane = 0;
    for (; lane < count; lane++) {
      store<f32>(target + (lane << 2), load<f32>(from));
      from += vectorStride;
    }
    for (; lane < width; lane++) store<f32>(target + (lane << 2), 0);
    target += <usize>width << 2;
  }
}
