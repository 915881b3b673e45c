/** The methods over seeds: mean ± interval of each metric, and a winner only where the seeds agree on one. */
import { Button, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Replies.module.css';
import { BetterArrow } from './ReportTables.tsx';
import { meanOverSeeds, modelLabel } from './report-rows.ts';
import type { ReplyWork } from './use-reply-work.ts';

export interface OverSeedsProps {
  /** Seeds with a finished run of every method. */
  readonly wholeSeeds: readonly number[];
  readonly work: ReplyWork;
}

export function OverSeeds({ wholeSeeds, work }: OverSeedsProps) {
  const { data: table, error } = useQuery(api.replies.overSeeds.queryOptions());
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
      {error !== null && <Failed what="The comparison over seeds can't be shown" error={error} />}
      {!enough && (
        <p className="soft">
          One seed can't show whether a difference is chance. It needs two or more seeds with a finished run of every
          method{wholeSeeds.length === 1 && `; seed ${wholeSeeds[0]} has them`}.{' '}
          <Link href="/experiments">Queue the methods with several seeds</Link>
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
            Seeds <span className="num">{table.seeds.join(', ')}</span>, <When at={table.at} />. Mean ± 95 % t-interval
            over seeds; a winner is significantly better than every other method (paired over seeds, Holm).
            {isOld && ' Seeds have finished since: compare again.'}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <section className={classes.scroll} tabIndex={0} aria-label="Means over seeds">
            <Table className={classes.numbers}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Metric</Table.Th>
                  {table.models.map((name) => (
                    <Table.Th key={name} scope="col">
                      {modelLabel(name)}
                    </Table.Th>
                  ))}
                  <Table.Th scope="col">Winner</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {table.rows.map(({ name, label, better, models, winner }) => (
                  <Table.Tr key={name}>
                    <Table.Th scope="row">
                      {label} <BetterArrow better={better} />
                    </Table.Th>
                    {models.map((one) => (
                      <Table.Td key={one.model} className="num" data-winner={one.model === winner || undefined}>
                        {meanOverSeeds(one)}
                      </Table.Td>
                    ))}
                    <Table.Td>{winner === null ? '–' : modelLabel(winner)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        </>
      )}
    </Panel>
  );
}
