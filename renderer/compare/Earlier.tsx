/** Earlier comparisons, newest first. */
import { useQuery } from '@tanstack/react-query';
import type { ComparisonSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { signed } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Compare.module.css';

export function Earlier() {
  const { data, error, refetch } = useQuery(api.comparisons.list.queryOptions());
  if (data === undefined && error !== null)
    return <Failed what="Earlier comparisons can't be shown" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="earlier comparisons" />;
  if (data.length === 0) {
    return <p className="soft">No comparisons yet. Each is saved with its completions and reopens instantly.</p>;
  }
  return (
    <Panel title="Earlier comparisons">
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Compared</th>
            <th scope="col">Prompts</th>
            <th scope="col" className={classes.right}>
              Best difference
            </th>
            <th scope="col" className={classes.right}>
              95% interval
            </th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {data.map((comparison) => (
            <Line key={comparison.id} comparison={comparison} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Line({ comparison: { id, models, prompts, madeAt } }: { readonly comparison: ComparisonSummary }) {
  const [baseline, ...others] = models;
  const best = others
    .flatMap(({ paired }) => paired ?? [])
    .toSorted((a, b) => b.difference.mean - a.difference.mean)[0]?.difference;
  const missing = models.filter(({ mean }) => mean === null).length;
  return (
    <tr>
      <td>
        <Link href={`/compare/${id}`} className={classes.link ?? ''}>
          {others.map(({ name }) => name).join(', ')} <span className={classes.against}>against</span> {baseline?.name}
        </Link>
        {missing > 0 && (
          <div className={classes.note}>
            {missing} of {models.length} not evaluated yet
          </div>
        )}
      </td>
      <td className="soft">
        <span className="num">{prompts.n}</span> of {prompts.datasets.join(', ')}
      </td>
      <td className={`mono ${classes.right}`}>{best === undefined ? '–' : signed(best.mean)}</td>
      <td className={`mono ${classes.right}`}>
        {best === undefined ? '–' : `${signed(best.low)} to ${signed(best.high)}`}
      </td>
      <td className="soft">
        <When at={madeAt} />
      </td>
    </tr>
  );
}
