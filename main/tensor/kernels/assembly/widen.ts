/**
 * Frozen matrices may be kept as bfloat16, the upper half of a float32. A tile widens the part that it reads into its
 * thread's scratch and continues as with float32, so the bits are those of the same numbers in float32.
 */

/** Widens `lines` rows of `length` numbers each, `lineBytes` apart, so that they lie next to each other. */
export function widenLines(from: usize, lineBytes: usize, lines: i32, length: i32, to: usize): void {
  const vectorEnd = <usize>(length & ~7) << 1;
  for (let line = 0; line < lines; line++) {
    let at: usize = 0;
    for (; at < vectorEnd; at += 16) {
      const halves = v128.load(from + at);
      v128.store(to, v128.shuffle<i16>(i16x8.splat(0), halves, 0, 8, 0, 9, 0, 10, 0, 11));
      v128.store(to, v128.shuffle<i16>(i16x8.splat(0), halves, 0, 12, 0, 13, 0, 14, 0, 15), 16);
      to += 32;
    }
    for (const end = <usize>length << 1; at < end; at += 2) {
      store<u32>(to, <u32>load<u16>(from + at) << 16);
      to += 4;
    }
    from += lineBytes;
  }
}
