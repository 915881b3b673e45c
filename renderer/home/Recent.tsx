/** The newest runs, each with a sparkline of its reward. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../main/api/contract/index.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import { DistinctName } from '../components/DistinctName.tsx';
import { score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { tellApart } from '../components/tell-apart.ts';
import { When } from '../components/When.tsx';
import classes from './Home.module.css';
import { sparklinesOf } from './home-queries.ts';

export function Recent({ runs }: { readonly runs: readonly RunSummary[] }) {
  const { data: lines = {} } = useQuery({
    ...sparklinesOf(runs),
    enabled: runs.length > 0,
    placeholderData: keepPreviousData,
  });
  const parts = tellApart(runs.map(({ name }) => name));
  return (
    <Panel title="Recent runs" actions={runs.length > 0 && <Link href="/runs">All runs</Link>}>
      {runs.length > 0 && (
        <table className={classes.recent}>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">State</th>
              <th scope="col">Reward</th>
              <th scope="col" className={classes.right}>
                {' '}
                Held-out
              </th>
              <th scope="col" className={classes.right}>
                {' '}
                Baseline
              </th>
              <th scope="col" className={classes.right}>
                {' '}
                Steps
              </th>
              <th scope="col" className={classes.right}>
                {' '}
                Started
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <td>
                  <Link href={`/runs/${run.id}`}>
                    <DistinctName parts={parts(run.name)} />
                  </Link>
                </td>
                <td>
                  <StateBadge state={run.state} />
                </td>
                <td>
                  <span className={classes.shape}>
                    <Sparkline
                      values={lines[run.id] ?? []}
                      label={`Reward of ${run.name}, last ${score(run.latest.reward?.value)}`}
                      min={0}
                      max={1}
                    />
                    <span className="num">{score(run.latest.reward?.value)}</span>
                  </span>
                </td>
                <td className={`num ${classes.right}`} data-below={run.below}>
                  {score(run.evaluation?.mean)}
                </td>
                <td className={`num ${classes.right}`}>{score(run.baselineScore)}</td>
                <td className={`num ${classes.right}`}>
                  {run.step}/{run.maxSteps}
                </td>
                <td className={classes.right}>
                  <When at={run.startedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
