/** The newest learning curve, with that run's best and worst completion. */
import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { RunCurve } from '../charts/RunCurve.tsx';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { BestAndWorst } from '../run/BestAndWorst.tsx';
import classes from './Home.module.css';

/** On a large screen the chart takes the room that would stay empty. */
function tall(): boolean {
  return window.innerHeight >= 1000;
}

/** `runs`: the recent ones, newest first. One without steps has no curve yet, so an earlier one keeps its place. */
export function Newest({ runs }: { readonly runs: readonly RunSummary[] }) {
  const newest = runs.find(({ step }) => step > 0) ?? runs[0];
  return newest === undefined ? null : <Curve runId={newest.id} />;
}

function Curve({ runId }: { readonly runId: number }) {
  const { data: detail, error, refetch } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  if (detail === undefined)
    return (
      error !== null && (
        <Failed what="The newest learning curve can't be shown" error={error} onRetry={() => void refetch()} />
      )
    );
  const step = detail.sampleSteps.at(-1);
  return (
    <Panel title="Newest learning curve" actions={<Link href={`/runs/${runId}`}>{detail.name}</Link>}>
      {detail.step === 0 ? (
        <p className="soft">
          <StateBadge state={detail.state} /> No steps yet
        </p>
      ) : (
        <div className={classes.halves}>
          <RunCurve detail={detail} height={tall() ? 380 : 270} />
          {step !== undefined && <BestAndWorst runId={runId} step={step} />}
        </div>
      )}
    </Panel>
  );
}
