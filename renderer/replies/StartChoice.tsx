/** What the methods start from: any model for the first phase, any checkpoint for the second. */
import { Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { StartPoints } from '../../main/services/replies/start-points.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { modelOptions } from '../components/model-options.ts';
import classes from './Replies.module.css';
import { usualStarts } from './words.ts';

export function StartChoice({ model, start }: StartPoints) {
  const { data: models = [], error } = useQuery(api.models.list.queryOptions());
  const choose = useMutation({
    mutationFn: (choice: { readonly model?: string | null; readonly start?: string | null }) =>
      client.replies.choose(choice),
  });
  const checkpoints = models.filter(({ kind }) => kind === 'checkpoint');
  const shared = {
    searchable: true,
    limit: 100,
    allowDeselect: false,
    nothingFoundMessage: 'None of that name',
  } as const;
  return (
    <div className={classes.starts}>
      <div>
        <Select
          {...shared}
          label="Model"
          description="What both fits of phase 1 begin with"
          data={[{ value: USUAL, label: usualStarts.model }, ...modelOptions(models)]}
          value={model?.ref ?? USUAL}
          error={model?.problem}
          onChange={(value) => choose.mutate({ model: value === USUAL ? null : value })}
        />
      </div>
      <div>
        <Select
          {...shared}
          label="Warm start"
          description="Where GRPO begins; its adapter is the frozen reference of the KL"
          data={[{ value: USUAL, label: usualStarts.start }, ...modelOptions(checkpoints)]}
          value={start?.ref ?? USUAL}
          error={start?.problem}
          onChange={(value) => choose.mutate({ start: value === USUAL ? null : value })}
        />
      </div>
      {(error ?? choose.error) !== null && <Failed what="That was not chosen" error={error ?? choose.error} />}
    </div>
  );
}

/** Stands for no choice: a select holds no null among its groups. */
const USUAL = 'usual';
