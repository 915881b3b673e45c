import { type } from '@orpc/contract';
import type { SettingField } from '../../services/workspace/setting-fields.ts';
import { type Settings, settingsChangeSchema } from '../../services/workspace/settings.ts';
import { procedure } from './base.ts';

export const settings = {
  get: procedure.output(type<Settings>()),
  /** The allowed values, unit and meaning of each setting. */
  fields: procedure.output(type<readonly SettingField[]>()),
  set: procedure.input(settingsChangeSchema).output(type<Settings>()),
};
