/**
 * Every setting with its description. Changes are saved at once; if that fails, the old value is restored and the
 * reason shown.
 */
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
  if (fields.data === undefined || values.data === undefined) {
    const retry = (): void => void Promise.all([fields.refetch(), values.refetch()]);
    return error === null ? (
      <Loading what="the settings" />
    ) : (
      <Failed what="The settings can't be shown" error={error} onRetry={retry} />
    );
  }
  const settings = values.data;
  return (
    <Panel title="Preferences">
      <p className={classes.about}>Stored in the workspace; changes are saved at once.</p>
      {fields.data.map((field) => (
        <Setting key={field.name} field={field} value={settings[field.name]} />
      ))}
    </Panel>
  );
}
