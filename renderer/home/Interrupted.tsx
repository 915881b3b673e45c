/** Interrupted or stopped runs, which can be resumed from their last checkpoint. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { When } from '../components/When.tsx';
import { useRunActions } from '../run/use-run-actions.ts';
import classes from './Home.module.css';

export function Interrupted({ runs }: { readonly runs: readonly RunSummary[] }) {
  return (
    <Panel title={runs.every(({ state }) => state === 'stopped') ? 'Stopped' : 'Interrupted'}>
      <ul className={classes.list}>
        {runs.map((run) => (
          <Line key={run.id} run={run} />
        ))}
      </ul>
    </Panel>
  );
}

function Line({ run: { id, name, state, step, maxSteps, reason, endedAt } }: { readonly run: RunSummary }) {
  const { resume, isBusy, failure } = useRunActions(id);
  const { data: detail } = useQuery(api.runs.get.queryOptions({ input: { runId: id } }));
  const lacks = detail?.lacks ?? [];
  return (
    <li>
      <div className={classes.interrupted}>
        <StateBadge state={state} />
        <p className={classes.what}>
          <Link href={`/runs/${id}`}>{name}</Link>{' '}
          <span className="num">
            step {number(step)} of {number(maxSteps)}
          </span>{' '}
          {reason?.split('\n')[0]}
          {lacks.length > 0 && <span className={classes.lack}> · {lacks.join('. ')}.</span>}
        </p>
        <When at={endedAt} />
        <Button loading={isBusy} disabled={lacks.length > 0} onClick={() => resume()} aria-label={`Resume ${name}`}>
          Resume
        </Button>
      </div>
      {failure !== null && <Failed what={failure.what} error={failure.error} />}
    </li>
  );
}
