/** The queue: what is waiting, why it is paused, and whether a stage that meets its rule queues the next one. */
import { Switch, UnstyledButton } from '@mantine/core';
import { IconGripVertical, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Curriculum } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Curriculum.module.css';
import { PausedQueue } from './PausedQueue.tsx';
import { movedTo } from './words.ts';

export function Queue({ curriculum }: { readonly curriculum: Curriculum }) {
  const { stages, queue, autoPromote } = curriculum;
  const promote = useMutation({ mutationFn: (on: boolean) => client.settings.set({ auto_promote: on }) });
  const dequeue = useMutation({ mutationFn: (stageId: number) => client.stages.dequeue({ stageId }) });
  const reorder = useMutation({
    mutationFn: (stageIds: readonly number[]) => client.stages.reorder({ stageIds: [...stageIds] }),
  });
  const error = promote.error ?? dequeue.error ?? reorder.error;
  const [dragged, setDragged] = useState<number | null>(null);
  const place = (id: number, to: number): void => reorder.mutate(movedTo(queue, id, to));
  const names = queue.map((id) => ({ id, name: stages.find((stage) => stage.id === id)?.name ?? `stage ${id}` }));
  return (
    <>
      <div className={classes.queue}>
        {names.length === 0 ? <span className="faint">The queue is empty</span> : <span>Queued</span>}
        <ol className={classes.waiting}>
          {names.map(({ id, name }, i) => (
            <li
              key={id}
              draggable={names.length > 1}
              data-dragged={dragged === id || undefined}
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = 'move';
                setDragged(id);
              }}
              onDragEnd={() => setDragged(null)}
              onDragOver={(event) => dragged !== null && event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== null) place(dragged, i);
              }}
            >
              {names.length > 1 && (
                <UnstyledButton
                  className={classes.grip}
                  aria-label={`Move ${name} in the queue: left and right arrow`}
                  onKeyDown={(event) => {
                    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
                    if (by === 0) return;
                    event.preventDefault();
                    event.stopPropagation();
                    if (i + by >= 0 && i + by < names.length) place(id, i + by);
                  }}
                >
                  <IconGripVertical size={13} aria-hidden="true" />
                </UnstyledButton>
              )}
              {name}
              <UnstyledButton
                className={classes.grip}
                aria-label={`Remove ${name} from the queue`}
                onClick={() => dequeue.mutate(id)}
              >
                <IconX size={13} aria-hidden="true" />
              </UnstyledButton>
            </li>
          ))}
        </ol>
        <Switch
          label="Queue the next stage when one meets its rule"
          checked={promote.isPending ? promote.variables : autoPromote}
          onChange={(event) => promote.mutate(event.currentTarget.checked)}
        />
      </div>
      <PausedQueue curriculum={curriculum} />
      {error !== null && <Failed error={error} />}
    </>
  );
}
