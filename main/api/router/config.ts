import { configForm, listPresets } from '../../services/config/form.ts';
import { parseConfigText } from '../../services/config/presets.ts';
import { faultsWithEngine } from '../../services/engines/engine-for.ts';
import { api } from '../context.ts';

export const config = {
  fields: api.config.fields.handler(() => configForm()),
  presets: api.config.presets.handler(({ context }) => listPresets(context.app)),
  read: api.config.read.handler(({ input: { name, text } }) => ({ ...parseConfigText(name, text) })),
  check: api.config.check.handler(({ input }) => faultsWithEngine(input.config)),
};
