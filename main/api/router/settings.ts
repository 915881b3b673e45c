import { settingFields } from '../../services/setting-fields.ts';
import { changeSettings, readSettings } from '../../services/settings.ts';
import { api } from '../context.ts';

export const settings = {
  get: api.settings.get.handler(({ context }) => readSettings(context.app.store)),
  fields: api.settings.fields.handler(() => settingFields()),
  set: api.settings.set.handler(({ context: { app }, input }) => {
    const changed = changeSettings(app.store, input);
    app.changes.publish('settings');
    // It may just have been allowed to go on.
    app.queue.begin();
    return changed;
  }),
};
