/** The queue in a line: what waits, why it stands still, and whether a stage that met its rule calls the next. */
import { Switch, UnstyledButton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum } from '../../main/services/curriculum.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Curriculum.module.css';
import { HeldQueue } from './HeldQueue.tsx';

export function Queue({ curriculum }: { readonly curriculum: Curriculum }) {
  const { stages, queue, autoPromote } = curriculum;
  const promote = useMutation({ mutationFn: (on: boolean) => client.settings.set({ auto_promote: on }) });
  const dequeue = useMutation({ mutationFn: (stageId: number) => client.stages.dequeue({ stageId }) });
  const error = promote.error ?? dequeue.error;
  const names = queue.map((id) => ({ id, name: stages.find((stage) => stage.id === id)?.name ?? `stage ${id}` }));
  return (
    <>
      <div className={classes.queue}>
        <span>
          {names.length === 0 ? <span className="faint">Nothing is queued</span> : 'Queued: '}
          {names.map(({ id, name }, i) => (
            <span key={id}>
              {i > 0 && ' → '}
              {name}{' '}
              <UnstyledButton
                className={classes.link}
                aria-label={`Take ${name} out of the queue`}
                onClick={() => dequeue.mutate(id)}
              >
                remove
              </UnstyledButton>
            </span>
          ))}
        </span>
        <span className={classes.gap} />
        <Switch
          label="Queue the next stage when one meets its rule"
          checked={promote.isPending ? promote.variables : autoPromote}
          onChange={(event) => promote.mutate(event.currentTarget.checked)}
        />
      </div>
      <HeldQueue curriculum={curriculum} />
      {error !== null && <Failed error={error} />}
    </>
  );
}
