/** The Home screen: live and interrupted runs, the next step, recent runs and the machine. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Screen } from '../components/Screen.tsx';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { FirstSteps } from './FirstSteps.tsx';
import classes from './Home.module.css';
import { interruptedRuns, recentRuns } from './home-queries.ts';
import { Interrupted } from './Interrupted.tsx';
import { LastComparison } from './LastComparison.tsx';
import { LiveCard } from './LiveCard.tsx';
import { Machine } from './Machine.tsx';
import { Newest } from './Newest.tsx';
import { Next } from './Next.tsx';
import { nextStep } from './next-step.ts';
import { Recent } from './Recent.tsx';
import { resumableRuns } from './resumable-runs.ts';
import { TourOffer } from './TourOffer.tsx';

export function Home() {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const runs = useQuery(recentRuns());
  const interrupted = useQuery(interruptedRuns());
  const stages = useQuery(api.stages.list.queryOptions());
  const curriculum = stages.data;
  const live = status?.live ?? [];
  const resumable = resumableRuns(interrupted.data ?? [], runs.data ?? []);
  // What is below the fold must not hold up the first paint.
  const isIdle = useWhenIdle(runs.data !== undefined);
  const next = curriculum === undefined || runs.data === undefined ? null : nextStep(curriculum, runs.data.length > 0);
  return (
    <Screen title="Home">
      {runs.error !== null && (
        <Failed what="The runs can't be shown" error={runs.error} onRetry={() => void runs.refetch()} />
      )}
      {interrupted.error !== null && (
        <Failed
          what="Interrupted runs can't be shown"
          error={interrupted.error}
          onRetry={() => void interrupted.refetch()}
        />
      )}
      {stages.error !== null && (
        <Failed what="The next step can't be shown" error={stages.error} onRetry={() => void stages.refetch()} />
      )}
      {runs.data?.length === 0 && <TourOffer />}
      {live.map((run) => (
        <LiveCard key={run.runId} live={run} />
      ))}
      {next !== null && curriculum !== undefined && live.length === 0 && <Next step={next} curriculum={curriculum} />}
      {resumable.length > 0 && <Interrupted runs={resumable} />}
      <div className={classes.columns}>
        {runs.data === undefined && runs.error === null ? (
          <Loading what="the runs" />
        ) : runs.data?.length === 0 ? (
          <FirstSteps />
        ) : (
          <Recent runs={runs.data ?? []} />
        )}
        <Machine />
      </div>
      {isIdle && (
        <>
          <Newest runs={runs.data ?? []} />
          <LastComparison />
        </>
      )}
    </Screen>
  );
}
