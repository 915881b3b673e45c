/** Imported model folders outside the workspace, which stores their paths. */
import { z } from 'zod';
import type { Store } from '../../store/index.ts';

const KEY = 'imported_models';

const schema = z.array(z.object({ folder: z.string().min(1), addedAt: z.int() }));

export type ImportedModel = Readonly<z.infer<typeof schema>[number]>;

/** The imported folders, oldest first. Invalid values from another version count as none. */
export function importedModels(store: Pick<Store, 'settings'>): readonly ImportedModel[] {
  return schema.safeParse(store.settings.get(KEY)).data ?? [];
}

/** Adds a folder, once. */
export function rememberImported(store: Pick<Store, 'settings' | 'now'>, folder: string): void {
  const known = importedModels(store);
  if (known.some((model) => model.folder === folder)) return;
  store.settings.set(KEY, [...known, { folder, addedAt: store.now() }]);
}

/** Removes a folder from the list; its files are kept. */
export function forgetImported(store: Pick<Store, 'settings'>, folder: string): void {
  const known = importedModels(store);
  store.settings.set(
    KEY,
    known.filter((model) => model.folder !== folder),
  );
}
