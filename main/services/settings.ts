/** The person's settings, kept in the workspace. Every one has a default, a unit where it has one, and one line. */
import { z } from 'zod';
import { inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';

export const settingsSchema = z.strictObject({
  theme: z.enum(['system', 'light', 'dark']).default('system').meta({ doc: 'Light or dark; system: as the desktop.' }),
  smoothing: z.number().min(0).max(0.99).default(0.6).meta({ doc: 'How much chart lines are smoothed; 0: not.' }),
  notify: z.boolean().default(true).meta({ doc: 'Tell when a stage ends or needs attention.' }),
  concurrent_runs: z
    .int()
    .min(1)
    .max(8)
    .default(1)
    .meta({ unit: 'runs', doc: 'Runs that may train at once, where their memory fits.' }),
  hang_minutes: z
    .number()
    .min(0.01)
    .max(24 * 60)
    .default(10)
    .meta({ unit: 'minutes', doc: 'A trainer that says nothing for so long is taken for hung and ended.' }),
  run_queue: z.boolean().default(true).meta({ doc: 'Start the next queued stage when a run ends.' }),
  auto_promote: z
    .boolean()
    .default(false)
    .meta({ doc: 'Queue the next planned stage by itself when a stage has met its rule.' }),
  forgetting_check: z.boolean().default(true).meta({
    doc: 'Measure every length anew after each stage of the curriculum, to see what was forgotten; replies have no lengths.',
  }),
  hourly_price: z.number().min(0).default(0).meta({ doc: 'What an hour of this machine costs; 0: not shown.' }),
  currency: z.string().max(8).default('$').meta({ doc: 'The currency of the price.' }),
});

export type Settings = Readonly<z.infer<typeof settingsSchema>>;
export type SettingsChange = { readonly [name in keyof Settings]?: Settings[name] | undefined };

const KEY = 'preferences';

/** The settings; one that was stored by another version and makes no sense here counts as not set. */
export function readSettings(store: Pick<Store, 'settings'>): Settings {
  const stored = store.settings.get(KEY);
  if (typeof stored !== 'object' || stored === null) return settingsSchema.parse({});
  const known = Object.entries(settingsSchema.shape).flatMap(([name, field]) => {
    const result = field.safeParse((stored as Record<string, unknown>)[name]);
    return result.success ? [[name, result.data]] : [];
  });
  return settingsSchema.parse(Object.fromEntries(known));
}

/** Changes some settings and gives them all. */
export function changeSettings(store: Pick<Store, 'settings'>, change: SettingsChange): Settings {
  const result = settingsSchema.safeParse({ ...readSettings(store), ...change });
  if (!result.success) throw inputError('BAD_SETTING', z.prettifyError(result.error));
  store.settings.set(KEY, result.data);
  return result.data;
}
