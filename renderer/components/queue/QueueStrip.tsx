/** The queue: what waits, in its order; moved by dragging or with the arrow keys of a grip, removed with a click. */
import { Button, UnstyledButton } from '@mantine/core';
import { IconGripVertical, IconX } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { QueueKey, QueuePlace } from '../../../main/api/contract/index.ts';
import { api, client } from '../../api/client.ts';
import { Failed } from '../Feedback.tsx';
import { Link } from '../Link.tsx';
import { movedTo } from './moved-to.ts';
import classes from './QueueStrip.module.css';

const KINDS = { stage: '', run: 'run', sweep: 'sweep' } as const;

export function QueueStrip() {
  const { data, error: unread } = useQuery(api.queue.list.queryOptions());
  const remove = useMutation({ mutationFn: ({ kind, id }: QueueKey) => client.queue.remove({ kind, id }) });
  const retry = useMutation({ mutationFn: (queuedId: number) => client.queue.retry({ queuedId }) });
  const reorder = useMutation({
    mutationFn: (keys: readonly QueueKey[]) =>
      client.queue.reorder({ keys: keys.map(({ kind, id }) => ({ kind, id })) }),
  });
  const { data: settings } = useQuery(api.settings.get.queryOptions());
  const begin = useMutation({ mutationFn: () => client.settings.set({ run_queue: true }) });
  const [dragged, setDragged] = useState<QueuePlace | null>(null);
  const error = unread ?? remove.error ?? retry.error ?? reorder.error ?? begin.error;
  const places = data?.places ?? [];
  const put = (place: QueuePlace, to: number): void => reorder.mutate(movedTo(places, place, to));
  return (
    <>
      {data !== undefined && places.length === 0 && <span className="faint">The queue is empty</span>}
      {places.length > 0 && <span>Queued</span>}
      <ol className={classes.waiting}>
        {places.map((place, i) => {
          const name = nameOf(place);
          return (
            <li
              key={`${place.kind} ${place.id}`}
              draggable={places.length > 1}
              data-dragged={dragged === place || undefined}
              data-failed={place.reason !== null || undefined}
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = 'move';
                setDragged(place);
              }}
              onDragEnd={() => setDragged(null)}
              onDragOver={(event) => dragged !== null && event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== null) put(dragged, i);
              }}
            >
              {places.length > 1 && (
                <UnstyledButton
                  className={classes.grip}
                  aria-label={`Move ${name} in the queue: left and right arrow`}
                  onKeyDown={(event) => {
                    const by = STEPS[event.key];
                    if (by === undefined) return;
                    event.preventDefault();
                    event.stopPropagation();
                    if (i + by >= 0 && i + by < places.length) put(place, i + by);
                  }}
                >
                  <IconGripVertical size={13} aria-hidden="true" />
                </UnstyledButton>
              )}
              {KINDS[place.kind] !== '' && <span className="faint">{KINDS[place.kind]} </span>}
              {name}
              {place.reason !== null && (
                <>
                  <span className={classes.reason} title={place.reason}>
                    can't start
                  </span>
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Try again to start ${name}`}
                    onClick={() => retry.mutate(place.id)}
                  >
                    Try again
                  </Button>
                </>
              )}
              <UnstyledButton
                className={classes.grip}
                aria-label={`Remove ${name} from the queue`}
                onClick={() => remove.mutate(place)}
              >
                <IconX size={13} aria-hidden="true" />
              </UnstyledButton>
            </li>
          );
        })}
      </ol>
      {places.map(({ id, kind, reason }) =>
        reason === null ? null : (
          <p key={`${kind} ${id}`} className={classes.why}>
            {reason}
          </p>
        ),
      )}
      {places.length > 0 && settings?.run_queue === false && (
        <p className={classes.why} role="status">
          Nothing here starts by itself: “Start queued runs” is off in <Link href="/settings">Settings</Link>.{' '}
          <Button variant="default" size="compact-xs" loading={begin.isPending} onClick={() => begin.mutate()}>
            Start queued runs
          </Button>
        </p>
      )}
      {error !== null && <Failed error={error} />}
    </>
  );
}

/** The strip is a row or a column, by the room that it has. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

function nameOf({ kind, id, name }: QueuePlace): string {
  return name ?? (kind === 'run' ? `without a name (${id})` : `${kind} ${id}`);
}
