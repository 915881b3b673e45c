/** What the methods start from: any model for the first phase, any checkpoint for the second. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { StartPoints } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { LongSelect } from '../components/LongSelect.tsx';
import { modelOptions } from '../components/model-options.ts';
import classes from './Replies.module.css';
import { defaultStarts } from './words.ts';

export function StartChoice({ model, start }: StartPoints) {
  const { data: models = [], error } = useQuery(api.models.list.queryOptions());
  const choose = useMutation({
    mutationFn: (choice: { readonly model?: string | null; readonly start?: string | null }) =>
      client.replies.choose(choice),
  });
  const checkpoints = models.filter(({ kind }) => kind === 'checkpoint');
  const shared = {
    allowDeselect: false,
    nothingFoundMessage: 'No matches',
  } as const;
  return (
    <div className={classes.starts}>
      <div>
        <LongSelect
          {...shared}
          label="Model"
          description="Starting point of both phase 1 runs"
          data={[{ value: DEFAULT, label: defaultStarts.model }, ...modelOptions(models)]}
          value={model?.ref ?? DEFAULT}
          error={model?.problem}
          onChange={(value) => choose.mutate({ model: value === DEFAULT ? null : value })}
        />
      </div>
      <div>
        <LongSelect
          {...shared}
          label="Warm start"
          description="Starting point of GRPO; its adapter is the frozen KL reference"
          data={[{ value: DEFAULT, label: defaultStarts.start }, ...modelOptions(checkpoints)]}
          value={start?.ref ?? DEFAULT}
          error={start?.problem}
          onChange={(value) => choose.mutate({ start: value === DEFAULT ? null : value })}
        />
      </div>
      {(error ?? choose.error) !== null && <Failed what="The choice was not saved" error={error ?? choose.error} />}
    </div>
  );
}

/** Stands for no choice: a grouped select can't have a null option. */
const DEFAULT = 'default';
