/** Rounding to bfloat16. Pure: files are written with it where no tensors are. */

/** The bits of the nearest bfloat16 numbers, the upper halves of float32; ties go to even, as torch rounds. */
export function toBfloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    halves[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}
