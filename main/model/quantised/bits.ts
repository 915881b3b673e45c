/** Codes of a few bits in words of 32, the first in the lowest bits; one that a word's end divides continues in the next. */

/** `count` codes that lie one after the other from byte `at` on. */
export function unpackBits(bytes: Uint8Array, at: number, bits: number, count: number): Uint8Array {
  const codes = new Uint8Array(count);
  const mask = 2 ** bits - 1;
  for (let i = 0; i < count; i++) {
    const bit = i * bits;
    const byte = at + (bit >>> 3);
    codes[i] = (((bytes[byte] as number) | ((bytes[byte + 1] ?? 0) << 8)) >>> (bit & 7)) & mask;
  }
  return codes;
}

/** The words of a part. */
export function wordsOf(bytes: Buffer<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** Code `i` of a column, whose words are `stride` apart from `at` on. */
export function codeInColumn(words: Uint32Array, at: number, stride: number, i: number, bits: number): number {
  const bit = i * bits;
  const shift = bit & 31;
  const word = at + (bit >>> 5) * stride;
  const low = (words[word] as number) >>> shift;
  const more = shift + bits > 32 ? (words[word + stride] as number) << (32 - shift) : 0;
  return (low | more) & (2 ** bits - 1);
}
