/** Every setting with what it means. A change is saved at once; one that can't be saved goes back, and says why. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { Setting } from './Setting.tsx';
import classes from './Settings.module.css';

export function Preferences() {
  const fields = useQuery(api.settings.fields.queryOptions());
  const values = useQuery(api.settings.get.queryOptions());
  const error = fields.error ?? values.error;
  if (error !== null) return <Failed what="The settings can't be shown" error={error} />;
  if (fields.data === undefined || values.data === undefined) return <Loading what="the settings" />;
  const settings = values.data;
  return (
    <Panel title="Preferences">
      <p className={classes.about}>Kept in the workspace; a change is saved at once.</p>
      {fields.data.map((field) => (
        <Setting key={field.name} field={field} value={settings[field.name]} />
      ))}
    </Panel>
  );
}
