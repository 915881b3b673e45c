import { configForm } from '../../services/config/form.ts';
import { parseConfigText } from '../../services/config/presets.ts';
import { faultsWithEngine } from '../../services/engines/engine-for.ts';
import { presetsHere } from '../../services/models/starting-model.ts';
import { api } from '../context.ts';

export const config = {
  fields: api.config.fields.handler(() => configForm()),
  presets: api.config.presets.handler(({ context }) => presetsHere(context.app)),
  read: api.config.read.handler(({ input: { name, text } }) => ({ ...parseConfigText(name, text) })),
  check: api.config.check.handler(({ input }) => faultsWithEngine(input.config)),
};
