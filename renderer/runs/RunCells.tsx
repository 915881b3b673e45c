/** One run's cell in each column of the run list. */
import { Sparkline } from '../charts/Sparkline.tsx';
import { DistinctName } from '../components/DistinctName.tsx';
import { duration, score, signed } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { When } from '../components/When.tsx';
import classes from './Runs.module.css';
import type { ColumnId } from './run-columns.ts';
import type { RunRowView } from './run-rows.ts';

export interface RunCellProps {
  readonly column: ColumnId;
  readonly run: RunRowView;
  /** Of the row among all runs shown, for the keys. */
  readonly index: number;
  readonly spark: readonly number[] | undefined;
  /** Characters of its name that say nothing beside the others'. */
  readonly shared: number;
}

export function RunCell({ column, run, index, spark, shared }: RunCellProps) {
  switch (column) {
    case 'id':
      return <td className={classes.numbers}>#{run.id}</td>;
    case 'name':
      return (
        <td className={classes.name}>
          <Link href={`/runs/${run.id}`} data-row={index}>
            <DistinctName parts={{ start: run.name.slice(0, shared), end: run.name.slice(shared) }} />
          </Link>
          {run.tags.map((tag) => (
            <span key={tag} className={classes.tag}>
              {tag}
            </span>
          ))}
        </td>
      );
    case 'state':
      return (
        <td title={run.reason ?? undefined}>
          <StateBadge state={run.state} />
        </td>
      );
    case 'step':
      return (
        <td className={classes.numbers}>
          {run.state === 'running' && run.secondsLeft !== null && (
            <span className={`faint ${classes.left}`}>{duration(run.secondsLeft)}</span>
          )}
          <span
            className={classes.bar}
            style={{ backgroundSize: `${run.maxSteps === 0 ? 0 : (run.step / run.maxSteps) * 100}% 100%` }}
          />
          {run.step}/{run.maxSteps}
        </td>
      );
    case 'shape':
      return (
        <td className={classes.spark}>
          <Sparkline values={spark ?? []} label={sparklineLabel(spark ?? [])} />
        </td>
      );
    case 'reward':
      return <td className={classes.numbers}>{score(run.reward)}</td>;
    case 'held-out':
      return (
        <td className={classes.numbers} data-below={run.below}>
          {score(run.heldOut)}
        </td>
      );
    case 'gain':
      return <td className={classes.numbers}>{run.gain === null ? '–' : signed(run.gain)}</td>;
    case 'duration':
      return <td className={classes.numbers}>{duration(run.seconds)}</td>;
    case 'cost':
      return <td className={classes.numbers}>{run.cost ?? '–'}</td>;
    case 'started':
      return (
        <td className={classes.when}>
          <When at={run.createdAt} />
        </td>
      );
    case 'dataset':
    case 'model':
    case 'method':
      return (
        <td className={column === 'dataset' ? classes.dataset : classes.text} title={run[column]}>
          {run[column]}
        </td>
      );
  }
}

function sparklineLabel(values: readonly number[]): string {
  if (values.length === 0) return 'No reward yet';
  return `Reward from ${score(values[0])} to ${score(values.at(-1))}`;
}
