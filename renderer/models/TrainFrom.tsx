/** Trains a model further: a checkpoint of the curriculum as a new stage, any other with its run's settings. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { continuesInCurriculum, runFrom } from '../components/config-form/free-run.ts';
import { Link } from '../components/Link.tsx';

export function TrainFrom({ entry: { model, run, checkpointId } }: { readonly entry: ModelEntry }) {
  if (run === null || checkpointId === null) return <FromModel model={model} />;
  return <FromCheckpoint runId={run.id} checkpointId={checkpointId} folder={model} />;
}

function FromModel({ model }: { readonly model: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Train from this
      </Button>
      {isOpen && <FreeRun opened model={model} onClose={() => setOpen(false)} />}
    </>
  );
}

interface FromCheckpointProps {
  readonly runId: number;
  readonly checkpointId: number;
  readonly folder: string;
}

function FromCheckpoint({ runId, checkpointId, folder }: FromCheckpointProps) {
  const { data: run, error } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  const [isOpen, setOpen] = useState(false);
  if (run !== undefined && continuesInCurriculum(run.config))
    return (
      <Button component={Link} variant="default" href={`/curriculum?from=${checkpointId}`}>
        Train from this
      </Button>
    );
  return (
    <>
      <Button
        variant="default"
        disabled={run === undefined}
        title={error === null ? undefined : "The settings of its run can't be read"}
        onClick={() => setOpen(true)}
      >
        Train from this
      </Button>
      {isOpen && run !== undefined && (
        <FreeRun opened follows={runFrom(runId, run.config, folder)} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
