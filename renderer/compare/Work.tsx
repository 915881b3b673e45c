/** How far a comparison is: at work, stopped on the way, or failed; nothing once it is whole. */
import { Button, Progress } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ComparisonView } from '../../main/services/model-comparisons.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { duration } from '../components/format.ts';
import classes from './Compare.module.css';

export function Work({ view: { id, models } }: { readonly view: ComparisonView }) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const resume = useMutation({ mutationFn: () => client.comparisons.resume({ id }) });
  const job = status?.jobs.find(({ kind }) => kind === `comparison:${id}`);
  const missing = models.filter(({ mean }) => mean === null);
  const changed = models.filter(({ standing }) => standing === 'changed');
  if (job?.state === 'running') {
    const { done, total } = job.progress ?? { done: 0, total: 1 };
    const spent = (Date.now() - job.startedAt) / 1000;
    return (
      <div className={classes.progress} role="status">
        <div>
          {job.title}: <span className="num">{done}</span> of <span className="num">{total}</span> answers
          {done > 0 && <span className="soft"> · about {duration((spent / done) * (total - done))} left</span>}
          <Progress value={(done / total) * 100} mt={6} size="sm" aria-label="Answers generated" />
        </div>
        <Button variant="default" onClick={() => void client.app.cancelJob({ id: job.id })}>
          Cancel
        </Button>
      </div>
    );
  }
  if (status === undefined || (missing.length === 0 && changed.length === 0)) return null;
  const failure = job?.state === 'failed' ? job.error : null;
  return (
    <>
      {failure !== null && <Failed what="The comparison ended early" error={failedJob(failure)} />}
      {resume.error !== null && <Failed what="It could not go on" error={resume.error} />}
      <div className={classes.progress}>
        <div>
          {missing.length > 0
            ? `${models.length - missing.length} of ${models.length} models are evaluated and kept; ${missing.map(({ name }) => name).join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.${job?.state === 'cancelled' ? ' It was cancelled; the half-done evaluation was let go.' : ''}`
            : `The files of ${changed.map(({ name }) => name).join(', ')} have changed since: these numbers are of the earlier ones.`}
        </div>
        <Button onClick={() => resume.mutate()} loading={resume.isPending}>
          {missing.length > 0 ? 'Evaluate the rest' : 'Evaluate anew'}
        </Button>
      </div>
    </>
  );
}

function failedJob({ message, remedy }: { readonly message: string; readonly remedy: string | null }): Error {
  return new Error(remedy === null ? message : `${message}\n${remedy}`);
}
