/** The queue in a line: what waits, why it stands still, and whether a stage that met its rule calls the next. */
import { Button, Switch, UnstyledButton } from '@mantine/core';
import { IconPlayerPause } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum } from '../../main/services/curriculum.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Curriculum.module.css';

export function Queue({ curriculum }: { readonly curriculum: Curriculum }) {
  const { stages, queue, held, autoPromote } = curriculum;
  const release = useMutation({ mutationFn: () => client.stages.release() });
  const promote = useMutation({ mutationFn: (on: boolean) => client.settings.set({ auto_promote: on }) });
  const dequeue = useMutation({ mutationFn: (stageId: number) => client.stages.dequeue({ stageId }) });
  const error = release.error ?? promote.error ?? dequeue.error;
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
      {held !== null && (
        <div className={classes.held} role="status">
          <IconPlayerPause size={15} aria-hidden="true" />
          <span>The queue stands still. {held}</span>
          <Button variant="default" loading={release.isPending} onClick={() => release.mutate()}>
            Go on all the same
          </Button>
        </div>
      )}
      {error !== null && <Failed error={error} />}
    </>
  );
}
