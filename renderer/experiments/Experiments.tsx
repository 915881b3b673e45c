/** The Experiments screen: the queue, and sweeps: many settings and seeds as one plan. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SweepSummary } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { ProgressBar } from '../components/ProgressBar.tsx';
import { QueueStrip } from '../components/queue/QueueStrip.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { When } from '../components/When.tsx';
import classes from './Experiments.module.css';
import { NewSweep } from './NewSweep.tsx';
import { ReplyMethods } from './ReplyMethods.tsx';
import { leaderInWords, progressInWords, shapeInWords } from './words.ts';

type Open = 'run' | 'sweep' | 'replies' | null;

export function Experiments() {
  const { data, error, refetch } = useQuery(api.sweeps.list.queryOptions());
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  return (
    <Screen
      title="Experiments"
      actions={
        <>
          <Button variant="default" onClick={() => setOpen('run')}>
            Add a run to the queue …
          </Button>
          <Button variant="default" onClick={() => setOpen('replies')}>
            Reply methods × seeds
          </Button>
          <Button onClick={() => setOpen('sweep')}>New sweep</Button>
        </>
      }
    >
      <QueuePanel />
      {error !== null && <Failed what="The sweeps can't be listed" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the sweeps" />}
      {data?.length === 0 && (
        <Panel>
          <Empty title="No sweeps yet">
            <p>
              A sweep trains many settings with several seeds, one run after the other, and compares them in one table
              with intervals. Grid, random search, or successive halving, which stops the losers early.
            </p>
            <Button variant="default" onClick={() => setOpen('sweep')}>
              Plan the first sweep
            </Button>
          </Empty>
        </Panel>
      )}
      {data !== undefined && data.length > 0 && <SweepList sweeps={data} />}
      <NewSweep opened={open === 'sweep'} onClose={close} />
      {open === 'replies' && <ReplyMethods onClose={close} />}
      <FreeRun opened={open === 'run'} onClose={close} />
    </Screen>
  );
}

function QueuePanel() {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const { data: queue } = useQuery(api.queue.list.queryOptions());
  const release = useMutation({ mutationFn: () => client.queue.release() });
  const live = status?.live ?? [];
  return (
    <Panel title="Queue">
      <div className={classes.queue}>
        {live.map(({ runId, name, state }) => (
          <span key={runId} className={classes.training}>
            <StateBadge state={state} />
            <Link href={`/runs/${runId}`}>{name}</Link>
          </span>
        ))}
        <QueueStrip />
      </div>
      {queue?.held != null && (
        <div className={classes.held} role="status">
          <span>The queue is paused. {queue.held}</span>
          <Button variant="default" loading={release.isPending} onClick={() => release.mutate()}>
            Continue the queue
          </Button>
        </div>
      )}
      {release.error !== null && <Failed error={release.error} />}
    </Panel>
  );
}

function SweepList({ sweeps }: { readonly sweeps: readonly SweepSummary[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.scroller} aria-label="Sweeps" tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Sweep</th>
            <th scope="col">State</th>
            <th scope="col">Plan</th>
            <th scope="col">Progress</th>
            <th scope="col">Leader ± 95%</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {sweeps.map((sweep) => (
            <tr key={sweep.id}>
              <td>
                <Link href={`/experiments/${sweep.id}`}>{sweep.name}</Link>
              </td>
              <td>
                <StateBadge state={sweep.state} />
              </td>
              <td className="num">{shapeInWords(sweep)}</td>
              <td className="num">
                <span className={classes.progress}>
                  <ProgressBar
                    aria-label={`Progress of ${sweep.name}`}
                    value={(100 * sweep.over) / Math.max(1, sweep.runs)}
                  />
                  {progressInWords(sweep)}
                </span>
              </td>
              <td className="num">{leaderInWords(sweep.leader)}</td>
              <td>
                <When at={sweep.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
