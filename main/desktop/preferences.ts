/** What the desktop app remembers between starts, outside any workspace: window position, workspace. */
import Store from 'electron-store';
import { z } from 'zod';

const preferencesSchema = z.object({
  window: z
    .object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1), maximized: z.boolean() })
    .optional(),
  /** Chosen in a dialog; `--workspace` and BRAID_WORKSPACE take precedence. */
  workspace: z.string().min(1).optional(),
});

export type PreferenceValues = z.infer<typeof preferencesSchema>;
export type WindowPlace = NonNullable<PreferenceValues['window']>;

export interface Preferences {
  get<K extends keyof PreferenceValues>(name: K): PreferenceValues[K];
  set<K extends keyof PreferenceValues>(name: K, value: NonNullable<PreferenceValues[K]>): void;
}

/** Opens the preferences in the user-data folder; invalid values count as not set. */
export function openPreferences(): Preferences {
  const store = new Store<Record<string, unknown>>({ name: 'preferences', clearInvalidConfig: true });
  return {
    get: (name) => {
      const result = preferencesSchema.shape[name].safeParse(store.get(name));
      return (result.success ? result.data : undefined) as PreferenceValues[typeof name];
    },
    set: (name, value) => store.set(name, value),
  };
}
