/** The queue on the curriculum: what waits, why it is paused, and whether a stage that meets its rule queues the next. */
import { Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { QueueStrip } from '../components/queue/QueueStrip.tsx';
import classes from './Curriculum.module.css';
import { PausedQueue } from './PausedQueue.tsx';

export function Queue({ curriculum }: { readonly curriculum: Curriculum }) {
  const { autoPromote } = curriculum;
  const promote = useMutation({ mutationFn: (on: boolean) => client.settings.set({ auto_promote: on }) });
  return (
    <>
      <div className={classes.queue}>
        <QueueStrip />
        <Switch
          label="Queue the next stage when one meets its rule"
          checked={promote.isPending ? promote.variables : autoPromote}
          onChange={(event) => promote.mutate(event.currentTarget.checked)}
        />
      </div>
      <PausedQueue curriculum={curriculum} />
      {promote.error !== null && <Failed error={promote.error} />}
    </>
  );
}
