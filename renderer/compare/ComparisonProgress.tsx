/** A comparison's progress: running, cancelled or failed; renders nothing once it is complete. */
import { Button, Progress } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ComparisonView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { CancelJob } from '../components/CancelJob.tsx';
import { Failed } from '../components/Feedback.tsx';
import { duration } from '../components/format.ts';
import { hostNow } from '../components/host-time.ts';
import classes from './Compare.module.css';

export function ComparisonProgress({ view: { id, models } }: { readonly view: ComparisonView }) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const resume = useMutation({ mutationFn: () => client.comparisons.resume({ id }) });
  const job = status?.jobs.find(({ kind }) => kind === `comparison:${id}`);
  const missing = models.filter(({ mean }) => mean === null);
  const changed = models.filter(({ standing }) => standing === 'changed');
  if (job?.state === 'running') {
    const { done, total } = job.progress ?? { done: 0, total: 1 };
    const spent = (hostNow() - job.startedAt) / 1000;
    return (
      <div className={classes.progress} role="status">
        <div>
          {job.title}: <span className="num">{done}</span> of <span className="num">{total}</span> answers
          {done > 0 && <span className="soft"> · about {duration((spent / done) * (total - done))} left</span>}
          <Progress value={(done / total) * 100} mt={6} size="sm" aria-label="Answers generated" />
        </div>
        <CancelJob id={job.id} />
      </div>
    );
  }
  if (status === undefined || (missing.length === 0 && changed.length === 0)) return null;
  const failure = job?.state === 'failed' ? job.error : null;
  return (
    <>
      {failure !== null && <Failed what="The comparison did not finish" error={failedJob(failure)} />}
      {resume.error !== null && <Failed what="The comparison could not be resumed" error={resume.error} />}
      <div className={classes.progress}>
        <div>
          {missing.length > 0
            ? `${models.length - missing.length} of ${models.length} models evaluated and saved; still to do: ${missing.map(({ name }) => name).join(', ')}.${job?.state === 'cancelled' ? ' The comparison was cancelled, and the partial evaluation discarded.' : ''}`
            : `The files of ${changed.map(({ name }) => name).join(', ')} have changed since this evaluation. These results are for the earlier files.`}
        </div>
        <Button onClick={() => resume.mutate()} loading={resume.isPending}>
          {missing.length > 0 ? 'Evaluate the rest' : 'Evaluate again'}
        </Button>
      </div>
    </>
  );
}

function failedJob({ message, remedy }: { readonly message: string; readonly remedy: string | null }): Error {
  return new Error(remedy === null ? message : `${message}\n${remedy}`);
}
