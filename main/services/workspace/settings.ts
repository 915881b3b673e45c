/** The user's settings, stored in the workspace. Each has a default, a label, one line of doc and, where it applies, a unit. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';

export const settingsSchema = z.strictObject({
  theme: z
    .enum(['system', 'light', 'dark'])
    .default('system')
    .meta({ label: 'Theme', doc: 'System: as the desktop is set.' }),
  smoothing: z
    .number()
    .min(0)
    .max(0.99)
    .default(0.6)
    .meta({ label: 'Smoothing of charts', doc: 'From 0, not at all, to 0.99.' }),
  notify: z
    .boolean()
    .default(true)
    .meta({ label: 'Notifications', doc: 'When a stage ends or needs attention, unless the window is in front.' }),
  concurrent_runs: z
    .int()
    .min(1)
    .max(8)
    .default(1)
    .meta({ label: 'Runs at the same time', unit: 'runs', doc: 'If memory permits; others wait in the queue.' }),
  hang_minutes: z
    .number()
    .min(0.01)
    .max(24 * 60)
    .default(10)
    .meta({
      label: 'Kill a silent trainer after',
      unit: 'minutes',
      doc: 'It counts as hung. The run can be resumed from its last checkpoint.',
    }),
  run_queue: z
    .boolean()
    .default(true)
    .meta({ label: 'Start queued runs', doc: 'When a run ends, the next in the queue starts.' }),
  auto_promote: z.boolean().default(false).meta({
    label: 'Queue the next stage',
    doc: 'When a stage has met its rule, the next planned one is queued automatically.',
  }),
  forgetting_check: z.boolean().default(true).meta({
    label: 'Check for forgetting',
    doc: 'After each stage of the curriculum, evaluate every stage so far again.',
  }),
  offer_tour: z
    .boolean()
    .default(true)
    .meta({ label: 'Offer the tour', doc: 'On Home; switched off once it was taken or skipped.' }),
  tf32: z.boolean().default(false).meta({
    label: 'Products in TF32',
    doc: 'On NVIDIA GPUs with the native backend: faster, with 10 bits of mantissa instead of 23.',
  }),
  hourly_price: z
    .number()
    .min(0)
    .default(0)
    .meta({ label: 'Price of this machine', unit: 'per hour', doc: 'Runs then show their cost; 0: not shown.' }),
  currency: z.string().max(8).default('$').meta({ label: 'Currency', doc: 'Shown in front of prices.' }),
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
export function changeSettings(store: Pick<Store, 'settings' | 'transaction'>, change: SettingsChange): Settings {
  return store.transaction(() => {
    const result = settingsSchema.safeParse({ ...readSettings(store), ...change });
    if (!result.success) throw inputError('BAD_SETTING', z.prettifyError(result.error));
    store.settings.set(KEY, result.data);
    return result.data;
  });
}
