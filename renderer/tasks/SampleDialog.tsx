/** Has a model complete some of the task's records, to try the reward on. */
import { Button, Modal, NumberInput, Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { LongSelect } from '../components/LongSelect.tsx';
import { modelOptions } from '../components/model-options.ts';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Tasks.module.css';
import type { Draft } from './use-draft.ts';

export interface SampleDialogProps {
  readonly draft: Draft;
  readonly onClose: () => void;
  /** `label`: what was sampled, in words. */
  readonly onSampled: (id: number, label: string) => void;
}

export function SampleDialog({ draft, onClose, onSampled }: SampleDialogProps) {
  const models = useQuery(api.models.list.queryOptions());
  const sources = useQuery(api.tasks.recordsSources.queryOptions({ input: { name: draft.name } }));
  const unlisted = models.error ?? sources.error;
  const [chosen, setChosen] = useState<string | null>(null);
  const [records, setRecords] = useState('0');
  const [prompts, setPrompts] = useState(8);
  const [samples, setSamples] = useState(8);
  const usable = models.data?.filter(({ problem, deleted }) => problem === null && !deleted) ?? [];
  const model = chosen ?? usable[0]?.ref ?? null;
  const source = sources.data?.[Number(records)];
  const sample = useMutation({
    mutationFn: async () => {
      if (model === null || source === undefined) throw new Error('Choose a model and records first.');
      const { datasetId, side } = source;
      return client.tasks.sample({ draft, from: { datasetId, side }, model, prompts, samples });
    },
    onSuccess: ({ id }) => {
      const name = usable.find(({ ref }) => ref === model)?.name ?? '';
      onSampled(id, `Sampled now: ${name}, ${counted(prompts * samples, 'completion')}`);
    },
  });
  return (
    <Modal opened onClose={onClose} title="Sample completions">
      <SubmitForm className={classes.dialog} onSubmit={() => sample.mutate()}>
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
          <NumberInput
            label="Prompts"
            min={1}
            max={200}
            value={prompts}
            onChange={(n) => typeof n === 'number' && n >= 1 && setPrompts(n)}
          />
          <NumberInput
            label="Completions of each"
            min={1}
            max={64}
            value={samples}
            onChange={(n) => typeof n === 'number' && n >= 1 && setSamples(n)}
          />
        </div>
        {sources.data?.length === 0 && <p className="soft">The task has no records yet. Import some first.</p>}
        {unlisted !== null && (
          <Failed
            what="Models and records can't be listed"
            error={unlisted}
            onRetry={() => void Promise.all([models.refetch(), sources.refetch()])}
          />
        )}
        {sample.error !== null && <Failed what="Nothing was sampled" error={sample.error} />}
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={model === null || source === undefined} loading={sample.isPending}>
            Sample
          </Button>
        </div>
      </SubmitForm>
    </Modal>
  );
}
