/** Disk space of each model, read without blocking the host. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listModels, type ModelPlaces } from './list.ts';

/** Bytes of each model's folder, by reference; deleted ones are left out. */
export async function modelSizes(places: ModelPlaces): Promise<Readonly<Record<string, number>>> {
  const sizes: Record<string, number> = {};
  for (const { ref, folder, deleted } of listModels(places)) {
    if (deleted) continue;
    const bytes = await folderBytes(folder);
    // Removed since it was listed.
    if (bytes > 0) sizes[ref] = bytes;
  }
  return sizes;
}

/** Bytes of a folder's files; one deleted meanwhile counts as empty. */
export async function folderBytes(folder: string): Promise<number> {
  try {
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
