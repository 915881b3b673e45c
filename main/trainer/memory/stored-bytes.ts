import { join } from 'node:path';
import { openSafetensors } from '../../model/safetensors.ts';
import { weightFiles } from '../../model/weight-files.ts';

/** Bytes of a number in a model's files, by their headers: what "stored" weights take on webgpu. */
export type StoredBytes = 2 | 4;

/** By most of the numbers, as norms may be in float32 beside matrices of 16 bits. */
export function storedBytes(folder: string): StoredBytes {
  let [wide, all] = [0, 0];
  try {
    for (const name of weightFiles(folder)) {
      const file = openSafetensors(join(folder, name));
      file.close();
      for (const { dtype, shape } of file.entries.values()) {
        const numbers = shape.reduce((size, length) => size * length, 1);
        all += numbers;
        if (dtype === 'F32') wide += numbers;
      }
    }
  } catch {
    // Whoever loads the weights reports a missing or damaged file; until then the larger size is the safe one.
    return 4;
  }
  return 2 * wide > all ? 4 : 2;
}
