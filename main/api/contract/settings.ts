import { type } from '@orpc/contract';
import type { SettingField } from '../../services/setting-fields.ts';
import { type Settings, settingsSchema } from '../../services/settings.ts';
import { procedure } from './base.ts';

export const settings = {
  get: procedure.output(type<Settings>()),
  /** What each setting may be, its unit and what it means. */
  fields: procedure.output(type<readonly SettingField[]>()),
  set: procedure.input(settingsSchema.partial()).output(type<Settings>()),
};
