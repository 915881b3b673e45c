/** The methods over seeds: mean ± interval of each metric, and a winner only where the seeds agree on one. */
import { Button, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import { MetricTable } from './MetricTable.tsx';
import { meanOverSeeds } from './report-rows.ts';
import type { ReplyWork } from './use-reply-work.ts';

export interface OverSeedsProps {
  /** Seeds with a finished run of every method. */
  readonly wholeSeeds: readonly number[];
  readonly work: ReplyWork;
}

export function OverSeeds({ wholeSeeds, work }: OverSeedsProps) {
  const { data: table, error, refetch } = useQuery(api.replies.overSeeds.queryOptions());
  const enough = wholeSeeds.length >= 2;
  const isOld = table != null && table.seeds.join() !== wholeSeeds.join();
  return (
    <Panel
      title="Comparison over seeds"
      actions={
        <Button
          variant="default"
          disabled={work.isBusy || !enough}
          onClick={() => work.begin('The comparison was not started', () => client.replies.compareSeeds())}
        >
          {enough ? `Compare ${wholeSeeds.length} seeds` : 'Compare seeds'}
        </Button>
      }
    >
      {error !== null && (
        <Failed what="The comparison over seeds can't be shown" error={error} onRetry={() => void refetch()} />
      )}
      {!enough && (
        <p className="soft">
          One seed can't show whether a difference is chance. It needs two or more seeds with a finished run of every
          method{wholeSeeds.length === 1 && `; seed ${wholeSeeds[0]} has them`}.{' '}
          <Link href="/experiments">Add the methods to the queue with several seeds</Link>
        </p>
      )}
      {enough && table === null && (
        <p className="soft">
          Seeds {wholeSeeds.join(', ')} have a finished run of every method. Each is compared on the same held-out
          posts, which takes as long as {wholeSeeds.length} comparisons.
        </p>
      )}
      {table != null && (
        <>
          <p className="soft">
            Seeds <span className="num">{table.seeds.join(', ')}</span>, <When at={table.at} />. Mean ± 95% t-interval
            over seeds; a winner is significantly better than every other method (paired over seeds, Holm).
            {isOld && ' Seeds have finished since: compare again.'}
          </p>
          <MetricTable
            label="Means over seeds"
            models={table.models}
            rows={table.rows}
            cells={({ models, winner }) =>
              models.map((one) => (
                <Table.Td key={one.model} className="num" data-winner={one.model === winner || undefined}>
                  {meanOverSeeds(one)}
                </Table.Td>
              ))
            }
            winner={({ winner }) => winner}
          />
        </>
      )}
    </Panel>
  );
}
