/** Has a model complete some of the task's records, to try the reward on. */
import { Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { DialogForm } from '../components/DialogForm.tsx';
import { Failed } from '../components/Feedback.tsx';
import { LongSelect } from '../components/LongSelect.tsx';
import { modelOptions } from '../components/model-options.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import classes from './Tasks.module.css';
import type { Draft } from './use-draft.ts';

export interface SampleDialogProps {
  readonly draft: Draft;
  readonly onClose: () => void;
  readonly onSampled: (id: number) => Promise<void>;
}

/** A group of a size that training uses, for a first look. */
const PROMPTS = 8;
const SAMPLES = 8;

export function SampleDialog({ draft, onClose, onSampled }: SampleDialogProps) {
  const models = useQuery(api.models.list.queryOptions());
  const sources = useQuery(api.tasks.recordsSources.queryOptions({ input: { name: draft.name } }));
  const unlisted = models.error ?? sources.error;
  const [chosen, setChosen] = useState<string | null>(null);
  const [records, setRecords] = useState('0');
  const [prompts, setPrompts] = useState(PROMPTS);
  const [samples, setSamples] = useState(SAMPLES);
  const usable = models.data?.filter(({ problem, deleted }) => problem === null && !deleted) ?? [];
  const model = chosen ?? usable[0]?.ref ?? null;
  const source = sources.data?.[Number(records)];
  const sample = useMutation({
    mutationFn: async () => {
      if (model === null || source === undefined) throw new Error('Choose a model and records first.');
      const { datasetId, side } = source;
      return client.tasks.sample({ draft, from: { datasetId, side }, model, prompts, samples });
    },
    onSuccess: ({ id }) => onSampled(id),
  });
  const discard = useDiscardQuestion({
    // What is being sampled is listed once it is there, whatever becomes of the dialog.
    isChanged: () =>
      !sample.isPending && (chosen !== null || records !== '0' || prompts !== PROMPTS || samples !== SAMPLES),
    close: onClose,
  });
  return (
    <DialogForm
      title="Sample completions"
      action="Sample"
      what="Nothing was sampled"
      size="md"
      disabled={model === null || source === undefined}
      discard={discard}
      mutation={sample}
      onClose={onClose}
    >
      <LongSelect
        label="Model"
        data={modelOptions(models.data ?? [])}
        value={model}
        onChange={setChosen}
        nothingFoundMessage="No matching models"
        allowDeselect={false}
      />
      <Select
        label="Records"
        data={(sources.data ?? []).map(({ label }, i) => ({ value: String(i), label }))}
        value={source === undefined ? null : records}
        onChange={(value) => setRecords(value ?? '0')}
        allowDeselect={false}
      />
      <div className={classes.two}>
        <BoundedNumber label="Prompts" min={1} max={200} value={prompts} onChange={setPrompts} />
        <BoundedNumber label="Completions of each" min={1} max={64} value={samples} onChange={setSamples} />
      </div>
      {sources.data?.length === 0 && <p className="soft">The task has no records yet. Import some first.</p>}
      {unlisted !== null && (
        <Failed
          what="Models and records can't be listed"
          error={unlisted}
          onRetry={() => void Promise.all([models.refetch(), sources.refetch()])}
        />
      )}
    </DialogForm>
  );
}
