/** A run of one's own, outside the curriculum: any settings, any dataset. */
import { Button, Drawer } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, client } from '../../api/client.ts';
import { Failed, Loading } from '../Feedback.tsx';
import classes from './ConfigForm.module.css';
import { ConfigForm, useConfigFaults } from './ConfigForm.tsx';
import type { Values } from './sections.ts';

/** What its settings begin with. */
const PRESET = 'interleave-tiny';

export interface FreeRunProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Settings that it begins with, over the preset's. */
  readonly start?: Values;
}

export function FreeRun({ opened, onClose, start = {} }: FreeRunProps) {
  const { data: presets, error } = useQuery(api.config.presets.queryOptions());
  const defaults = presets?.find(({ name }) => name === PRESET)?.fields;
  return (
    <Drawer opened={opened} onClose={onClose} position="right" size={820} title="New run">
      {error !== null && <Failed what="The presets can't be read" error={error} />}
      {presets === undefined && error === null && <Loading what="the settings" />}
      {presets !== undefined && <Form defaults={defaults ?? {}} start={start} onClose={onClose} />}
    </Drawer>
  );
}

interface FormProps {
  readonly defaults: Values;
  readonly start: Values;
  readonly onClose: () => void;
}

function Form({ defaults, start: first, onClose }: FormProps) {
  const [own, setOwn] = useState<Values>(first);
  const [, navigate] = useLocation();
  const faults = useConfigFaults({ ...defaults, ...own });
  const start = useMutation({
    mutationFn: () => client.runs.start({ preset: PRESET, config: { ...own } }),
    onSuccess: ({ runId }) => navigate(`/runs/${runId}`),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p className="soft">
        Its held-out records are those beside the dataset. A stage of the curriculum keeps its lineage.
      </p>
      <ConfigForm defaults={defaults} own={own} onChange={setOwn} faults={faults} />
      <div className={classes.foot}>
        {start.error !== null && <Failed what="The run was not started" error={start.error} />}
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={start.isPending} disabled={faults.length > 0 || own.dataset === undefined}>
          Start run
        </Button>
      </div>
    </form>
  );
}
