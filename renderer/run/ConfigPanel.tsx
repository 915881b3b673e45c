/** The run's saved configuration: what differs from the defaults first; searchable, comparable, exportable. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { memo, useMemo, useState } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { LongChoice } from '../components/LongChoice.tsx';
import { Panel } from '../components/Screen.tsx';
import { saveFile } from '../components/save-file.ts';
import { ConfigDiff } from '../runs/ConfigDiff.tsx';
import { useAllRuns } from '../runs/use-all-runs.ts';
import classes from './Run.module.css';
import { Settings } from './Settings.tsx';

export interface ConfigPanelProps {
  readonly runId: number;
  readonly detail: RunDetail;
}

export const ConfigPanel = memo(function ConfigPanel({ runId, detail }: ConfigPanelProps) {
  const [words, setWords] = useState('');
  const [otherId, setOtherId] = useState<number | null>(null);
  const { data: runs = [] } = useAllRuns();
  const { data: fields = [] } = useQuery(api.config.fields.queryOptions());
  const defaults = useMemo(
    () => new Map<string, unknown>(fields.map((field) => [field.name, field.default])),
    [fields],
  );
  const found = Object.entries(detail.config).filter(([field]) => field.includes(words.trim().replaceAll(' ', '_')));
  const exported = useMutation({
    mutationFn: () => client.runs.config({ runId }),
    onSuccess: ({ yaml }) => saveFile(`${detail.name}.yaml`, new Blob([yaml], { type: 'application/yaml' })),
  });
  return (
    <Panel
      title="Saved configuration"
      actions={
        <>
          <input
            className={`box ${classes.find}`}
            placeholder="Find a setting"
            aria-label="Find a setting"
            value={words}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <LongChoice
            className={classes.find}
            placeholder="Compare with …"
            aria-label="Compare with another run"
            currentLabel={runs.find(({ id }) => id === otherId)?.name}
            clearable
            data={runs.filter(({ id }) => id !== runId).map(({ id, name }) => ({ value: String(id), label: name }))}
            value={otherId === null ? null : String(otherId)}
            onChange={(value) => setOtherId(value === null ? null : Number(value))}
          />
          <Button variant="default" loading={exported.isPending} onClick={() => exported.mutate()}>
            Save as YAML
          </Button>
        </>
      }
    >
      {exported.error !== null && <Failed what="The configuration could not be exported" error={exported.error} />}
      {otherId !== null ? (
        <ConfigDiff runIds={[runId, otherId]} />
      ) : (
        <Settings entries={found} defaults={defaults} isOpen={words.trim() !== ''} />
      )}
    </Panel>
  );
});
