/** The newest comparison: the mean score of the baseline and of each model. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { DistinctName } from '../components/DistinctName.tsx';
import { Failed } from '../components/Feedback.tsx';
import { score, signed } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { tellApart } from '../components/tell-apart.ts';
import classes from './Home.module.css';

export function LastComparison() {
  const { data: list, error, refetch } = useQuery(api.comparisons.list.queryOptions());
  const newest = list?.[0];
  if (newest === undefined)
    return (
      error !== null && (
        <Failed what="The last comparison can't be shown" error={error} onRetry={() => void refetch()} />
      )
    );
  const baseline = newest.models[0]?.mean ?? null;
  const parts = tellApart(newest.models.map(({ name }) => name));
  return (
    <Panel title="Last comparison" actions={<Link href={`/compare/${newest.id}`}>Open</Link>}>
      {newest.verdict !== null && <p className="soft">{newest.verdict}</p>}
      <dl className={classes.compared}>
        {newest.models.map(({ name, mean }, i) => (
          <div key={name}>
            <dt>
              <DistinctName parts={parts(name)} />
              {i === 0 && ' (baseline)'}
            </dt>
            <dd className="num">
              <span className={classes.scoreBar} style={{ backgroundSize: `${100 * (mean ?? 0)}% 100%` }} />
              <b>{score(mean)}</b>
              <span className={classes.gain}>
                {i > 0 && mean !== null && baseline !== null && signed(mean - baseline)}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
