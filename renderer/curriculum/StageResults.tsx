/** The stages that have run: the learning curve of each, and the best and worst completion of its newest step. */
import { useQuery } from '@tanstack/react-query';
import type { StageView } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { RunCurve } from '../charts/RunCurve.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { BestAndWorst } from '../run/BestAndWorst.tsx';
import classes from './Curriculum.module.css';

export function StageResults({ stages }: { readonly stages: readonly StageView[] }) {
  return (
    <section className={classes.results} aria-label="Results of the stages">
      {stages.map(({ id, name, run }) => run !== null && <StageResult key={id} name={name} runId={run.id} />)}
    </section>
  );
}

function StageResult({ name, runId }: { readonly name: string; readonly runId: number }) {
  const { data: detail, error, refetch } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  const step = detail?.sampleSteps.at(-1);
  return (
    <Panel>
      {error !== null && (
        <Failed what={`The results of ${name} can't be shown`} error={error} onRetry={() => void refetch()} />
      )}
      {detail === undefined && error === null && <Loading what={`the results of ${name}`} />}
      {detail !== undefined && (
        <>
          <RunCurve detail={detail} title={name} height={190} />
          {step !== undefined && (
            <>
              <p className={classes.stepLine}>
                Step {step} · <Link href={`/samples?run=${runId}&step=${step}`}>All completions</Link>
              </p>
              <BestAndWorst runId={runId} step={step} />
            </>
          )}
        </>
      )}
    </Panel>
  );
}
