import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readModelConfig } from '../../model/config.ts';
import { openSafetensors } from '../../model/safetensors.ts';
import { typeOfLinears } from '../../model/stored-type.ts';
import { weightFiles } from '../../model/weight-files.ts';

/** Bytes of a number in a model's files, by their headers: what "stored" weights take on webgpu. */
export type StoredBytes = 2 | 4;

/** By most of the numbers, as norms may be in float32 beside matrices of 16 bits. */
export function storedBytes(folder: string): StoredBytes {
  let [wide, all] = [0, 0];
  try {
    const config = existsSync(join(folder, 'config.json')) ? readModelConfig(folder) : null;
    // What its codes are unpacked to.
    if (config !== null && config.quantisation !== null) return typeOfLinears(folder, config) === 'F32' ? 4 : 2;
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
