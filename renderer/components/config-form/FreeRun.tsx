/** A run of one's own, outside the curriculum: any settings, any dataset. */
import { Button, Drawer, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, client } from '../../api/client.ts';
import { Failed, Loading } from '../Feedback.tsx';
import preflight from '../preflight/Preflight.module.css';
import { Preflight } from '../preflight/Preflight.tsx';
import classes from './ConfigForm.module.css';
import { ConfigForm, useConfigFaults } from './ConfigForm.tsx';
import type { Values } from './sections.ts';

/** What its settings begin with. */
const PRESET = 'interleave-tiny';

export interface FreeRunProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The run that it follows, instead of a preset. */
  readonly follows?: Followed;
}

/** A run whose settings the new one has, but for those that are changed. */
export interface Followed {
  readonly runId: number;
  readonly base: Values;
  readonly change: Values;
  readonly name: string;
}

export function FreeRun({ opened, onClose, follows }: FreeRunProps) {
  const { data: presets, error } = useQuery(api.config.presets.queryOptions());
  const defaults = presets?.find(({ name }) => name === PRESET)?.fields;
  return (
    <Drawer opened={opened} onClose={onClose} position="right" size={820} title="New run">
      {error !== null && <Failed what="The presets can't be read" error={error} />}
      {presets === undefined && error === null && <Loading what="the settings" />}
      {presets !== undefined && <Form defaults={follows?.base ?? defaults ?? {}} follows={follows} onClose={onClose} />}
    </Drawer>
  );
}

interface FormProps {
  readonly defaults: Values;
  readonly follows: Followed | undefined;
  readonly onClose: () => void;
}

function Form({ defaults, follows, onClose }: FormProps) {
  const [own, setOwn] = useState<Values>(follows?.change ?? {});
  const [name, setName] = useState(follows?.name ?? '');
  const [, navigate] = useLocation();
  const faults = useConfigFaults({ ...defaults, ...own });
  const [checking, setChecking] = useState(false);
  const base = follows === undefined ? { preset: PRESET } : { like: follows.runId };
  const asked = { ...base, ...(name.trim() !== '' && { name: name.trim() }), config: { ...own } };
  const start = useMutation({
    mutationFn: () => client.runs.start(asked),
    onSuccess: ({ runId }) => navigate(`/runs/${runId}`),
  });
  const hasDataset = follows !== undefined || own.dataset !== undefined;
  if (checking) {
    const adjust = (): void => setChecking(false);
    return (
      <Preflight title="Before the start" look={() => client.runs.preflight(asked)} onClose={adjust}>
        {(blocked) => (
          <>
            {start.error !== null && <Failed what="The run was not started" error={start.error} />}
            <div className={preflight.actions}>
              <Button onClick={() => start.mutate()} disabled={blocked} loading={start.isPending} data-autofocus>
                Start
              </Button>
              <Button variant="default" onClick={adjust}>
                Adjust
              </Button>
            </div>
          </>
        )}
      </Preflight>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setChecking(true);
      }}
    >
      <p className="soft">
        {follows === undefined
          ? 'Its held-out records are those beside the dataset. A stage of the curriculum keeps its lineage.'
          : `Everything is as in run ${follows.runId}, but for what is marked as changed.`}
      </p>
      <TextInput
        label="Name"
        description="Runs called experiment/seed_42, experiment/seed_43 … are one group"
        placeholder="made of its number, dataset and method"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
      />
      <ConfigForm defaults={defaults} own={own} onChange={setOwn} faults={faults} />
      <div className={classes.foot}>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" disabled={faults.length > 0 || !hasDataset}>
          Start run
        </Button>
      </div>
    </form>
  );
}
