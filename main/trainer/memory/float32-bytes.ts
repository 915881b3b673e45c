import { join } from 'node:path';
import { openSafetensors } from '../../model/safetensors.ts';
import { weightFiles } from '../../model/weight-files.ts';

/** Bytes of a run's reward models, by component: each is loaded for itself. */
export function modelsBytes(folders: Readonly<Record<string, string>>): number {
  return Object.values(folders).reduce((sum, folder) => sum + float32Bytes(folder), 0);
}

/** Bytes of a folder's weights in float32, which rewards are computed in. */
export function float32Bytes(folder: string): number {
  const shapes = weightFiles(folder).flatMap((name) => {
    const file = openSafetensors(join(folder, name));
    file.close();
    return [...file.entries.values()].map(({ shape }) => shape);
  });
  return shapes.reduce((sum, shape) => sum + 4 * shape.reduce((size, length) => size * length, 1), 0);
}
