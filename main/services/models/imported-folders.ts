/** Imported model folders outside the workspace, which stores their paths. */
import { statSync } from 'node:fs';
import { z } from 'zod';
import type { Store } from '../../store/index.ts';

const KEY = 'imported_models';

const schema = z.array(z.object({ folder: z.string().min(1), addedAt: z.int() }));

export type ImportedModel = Readonly<z.infer<typeof schema>[number]>;

/** The imported folders, oldest first. Invalid values from another version count as none. */
export function importedModels(store: Pick<Store, 'settings'>): readonly ImportedModel[] {
  return schema.safeParse(store.settings.get(KEY)).data ?? [];
}

/** Adds a folder, once; gives it as it is listed. */
export function rememberImported(store: Pick<Store, 'settings' | 'now'>, folder: string): string {
  const known = importedModels(store);
  const listed = known.find((model) => isSame(model.folder, folder));
  if (listed !== undefined) return listed.folder;
  store.settings.set(KEY, [...known, { folder, addedAt: store.now() }]);
  return folder;
}

/** Windows and macOS find a folder by its name in capitals too. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  if (a.normalize().toLowerCase() !== b.normalize().toLowerCase()) return false;
  const [one, other] = [a, b].map((folder) => statSync(folder, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** Removes a folder from the list; its files are kept. */
export function forgetImported(store: Pick<Store, 'settings'>, folder: string): void {
  const known = importedModels(store);
  store.settings.set(
    KEY,
    known.filter((model) => model.folder !== folder),
  );
}
