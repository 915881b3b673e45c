/** The two texts: typed in, or drawn from a held-out record. */
import { Button, Textarea } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { countSourceWords } from '../components/words.ts';
import type { Form } from './form.ts';
import classes from './Playground.module.css';

export interface TextsProps {
  readonly form: Form;
  readonly onForm: (change: Partial<Form>) => void;
}

export function Texts({ form, onForm }: TextsProps) {
  const datasets = useQuery(api.datasets.list.queryOptions());
  const [chosen, setChosen] = useState<string | null>(null);
  const heldOut = (datasets.data ?? []).filter(({ task, testN }) => task === 'interleave' && testN > 0);
  const dataset = heldOut.find(({ id }) => String(id) === chosen) ?? heldOut[0];
  const draw = useMutation({
    mutationFn: async (id: number) => {
      const side = 'test' as const;
      const { total } = await client.datasets.records({ id, side, offset: 0, limit: 1 });
      const offset = Math.floor(Math.random() * total);
      const view = (await client.datasets.records({ id, side, offset, limit: 1 })).records[0];
      if (view?.kind !== 'interleave') throw new Error('This record can’t be read. Draw another.');
      onForm({ a: view.record.fragment_a, b: view.record.fragment_b, words: null });
    },
  });
  return (
    <>
      <div className={classes.texts}>
        {(['a', 'b'] as const).map((side) => (
          <Textarea
            dir="auto"
            key={side}
            label={
              <>
                <span className={classes[side]}>{side.toUpperCase()}</span> Text {side.toUpperCase()}
                <span className="faint num"> {counted(countSourceWords(form[side]), 'word')}</span>
              </>
            }
            placeholder={side === 'a' ? 'The river bends round the old mill' : 'Nobody had told him about the train'}
            classNames={{ input: classes.text ?? '' }}
            rows={3}
            value={form[side]}
            onChange={({ currentTarget }) => onForm({ [side]: currentTarget.value })}
          />
        ))}
      </div>
      <div className={classes.tools}>
        <Button
          variant="default"
          leftSection={<IconDice5 size={14} aria-hidden="true" />}
          disabled={dataset === undefined}
          loading={draw.isPending}
          onClick={() => dataset !== undefined && draw.mutate(dataset.id)}
        >
          Draw a held-out record
        </Button>
        {heldOut.length > 0 ? (
          <Choice
            aria-label="Dataset to draw from"
            width={170}
            data={heldOut.map(({ id, name }) => ({ value: String(id), label: name }))}
            value={String(dataset?.id)}
            onChange={setChosen}
          />
        ) : (
          datasets.data !== undefined && <span className="faint">No dataset with held-out records yet</span>
        )}
        {datasets.data === undefined && datasets.error !== null && (
          <Failed what="The datasets can't be listed" error={datasets.error} onRetry={() => void datasets.refetch()} />
        )}
        {draw.error !== null && <Failed what="No record could be drawn" error={draw.error} />}
      </div>
    </>
  );
}
