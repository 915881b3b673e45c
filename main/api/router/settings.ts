import { settingFields } from '../../services/workspace/setting-fields.ts';
import { changeSettings, readSettings } from '../../services/workspace/settings.ts';
import { api } from '../context.ts';

export const settings = {
  get: api.settings.get.handler(({ context }) => readSettings(context.app.store)),
  fields: api.settings.fields.handler(() => settingFields()),
  set: api.settings.set.handler(({ context: { app }, input }) => {
    const changed = changeSettings(app.store, input);
    app.changes.publish('settings');
    // The queue may have just been allowed to continue.
    app.queue.begin();
    return changed;
  }),
};
