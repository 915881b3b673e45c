import { type } from '@orpc/contract';
import { type Settings, settingsSchema } from '../../services/settings.ts';
import { procedure } from './base.ts';

export const settings = {
  get: procedure.output(type<Settings>()),
  set: procedure.input(settingsSchema.partial()).output(type<Settings>()),
};
