/** Snappy, as most parquet files are compressed. */
import { snappyUncompress } from 'hyparquet';

/** Unpacks a page of so many bytes. */
export function unpackSnappy(input: Uint8Array, length: number): Uint8Array {
  checkLiterals(input);
  const output = new Uint8Array(length);
  snappyUncompress(input, output);
  return output;
}

/** Throws for a literal of 2³¹ bytes or more, which the library takes for a negative one, and reads for seconds. */
function checkLiterals(input: Uint8Array): void {
  let at = 0;
  // The length of the whole: seven bits a byte.
  while ((input[at++] ?? 0) >= 0x80);
  while (at < input.length) {
    const tag = input[at++] ?? 0;
    const kind = tag & 3;
    if (kind !== 0) {
      at += kind === 3 ? 4 : kind;
      continue;
    }
    // Above 59 it is the number of bytes that the length has.
    const bytes = Math.max(0, (tag >> 2) - 59);
    let size = bytes === 0 ? tag >> 2 : 0;
    for (let i = 0; i < bytes; i++) size += (input[at + i] ?? 0) * 256 ** i;
    at += bytes + size + 1;
    if (size >= 2 ** 31) throw new Error('parquet page with a literal longer than itself');
  }
}
