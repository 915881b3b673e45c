/** A run's ancestors and descendants: run → checkpoint → next run. */

import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import classes from './Run.module.css';

/** Tasks without a page of their own. */
const builtIn: readonly string[] = ['interleave', 'reply'];

export const LineageLine = memo(function LineageLine({ detail }: { readonly detail: RunDetail }) {
  const { id: runId, stage, config, task } = detail;
  const { data, error, refetch } = useQuery(api.runs.lineage.queryOptions({ input: { runId } }));
  if (data === undefined)
    return error === null ? (
      <nav className={classes.lineage} aria-label="Lineage" />
    ) : (
      <Failed what="The lineage can't be shown" error={error} onRetry={() => void refetch()} />
    );
  const { run, ancestors, descendants } = data;
  const parent = ancestors.at(-1);
  const fromStep = /checkpoint-(\d+)$/.exec(String(config.from_checkpoint))?.[1];
  const children = descendants.filter(({ depth }) => depth === 1);
  return (
    <nav className={classes.lineage} aria-label="Lineage">
      {stage !== null && (
        <>
          stage <Link href="/curriculum">{stage.name}</Link> ·{' '}
        </>
      )}
      {!builtIn.includes(task) && (
        <>
          task <Link href={`/tasks/${task}`}>{task}</Link> ·{' '}
        </>
      )}
      {parent === undefined ? (
        <>from the model {run.model}</>
      ) : (
        <>
          from <Link href={`/runs/${parent.id}`}>{parent.name}</Link>
          {fromStep !== undefined && ` at step ${fromStep}`}
          {ancestors.length > 1 && ` (${ancestors.length} runs back to the model)`}
        </>
      )}
      {children.length > 0 && (
        <>
          {' → '}
          {children.map(({ id, name, fromStep: at }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link href={`/runs/${id}`}>{name}</Link>
              {at !== null && ` from step ${at}`}
            </span>
          ))}
        </>
      )}
    </nav>
  );
});
