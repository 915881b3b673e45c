/** The user's settings, stored in the workspace. Each has a default, one line of doc and, where it applies, a unit. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';

export const settingsSchema = z.strictObject({
  theme: z
    .enum(['system', 'light', 'dark'])
    .default('system')
    .meta({ doc: 'Light or dark; system: as on the desktop.' }),
  smoothing: z
    .number()
    .min(0)
    .max(0.99)
    .default(0.6)
    .meta({ doc: 'How much chart lines are smoothed; 0: not at all.' }),
  notify: z.boolean().default(true).meta({ doc: 'Notify when a stage ends or needs attention.' }),
  concurrent_runs: z
    .int()
    .min(1)
    .max(8)
    .default(1)
    .meta({ unit: 'runs', doc: 'Runs that may train at the same time, memory permitting.' }),
  hang_minutes: z
    .number()
    .min(0.01)
    .max(24 * 60)
    .default(10)
    .meta({ unit: 'minutes', doc: 'A trainer silent for longer counts as hung and is killed.' }),
  run_queue: z.boolean().default(true).meta({ doc: 'Start the next queued stage when a run ends.' }),
  auto_promote: z
    .boolean()
    .default(false)
    .meta({ doc: 'Queue the next planned stage automatically when a stage has met its rule.' }),
  forgetting_check: z.boolean().default(true).meta({
    doc: 'Evaluate every length again after each stage of the curriculum to detect forgetting; replies have no lengths.',
  }),
  offer_tour: z.boolean().default(true).meta({ doc: 'Offer the tour on Home; off once it was taken or skipped.' }),
  hourly_price: z.number().min(0).default(0).meta({ doc: 'Hourly price of this machine; 0: not shown.' }),
  currency: z.string().max(8).default('$').meta({ doc: 'The currency of the price.' }),
});

export type Settings = Readonly<z.infer<typeof settingsSchema>>;
export type SettingsChange = { readonly [name in keyof Settings]?: Settings[name] | undefined };

/** Some settings. The defaults are removed: `partial()` keeps them, so that omitted settings would be reset. */
export const settingsChangeSchema: z.ZodType<SettingsChange> = z.strictObject(
  Object.fromEntries(
    Object.entries(settingsSchema.shape).map(([name, field]) => [name, field.removeDefault().optional()]),
  ),
);

const KEY = 'preferences';

/** The settings; an invalid value from another version counts as not set. */
export function readSettings(store: Pick<Store, 'settings'>): Settings {
  const stored = store.settings.get(KEY);
  if (typeof stored !== 'object' || stored === null) return settingsSchema.parse({});
  const known = Object.entries(settingsSchema.shape).flatMap(([name, field]) => {
    const result = field.safeParse((stored as Record<string, unknown>)[name]);
    return result.success ? [[name, result.data]] : [];
  });
  return settingsSchema.parse(Object.fromEntries(known));
}

/** Changes some settings and returns all of them. */
export function changeSettings(store: Pick<Store, 'settings'>, change: SettingsChange): Settings {
  const result = settingsSchema.safeParse({ ...readSettings(store), ...change });
  if (!result.success) throw inputError('BAD_SETTING', z.prettifyError(result.error));
  store.settings.set(KEY, result.data);
  return result.data;
}
