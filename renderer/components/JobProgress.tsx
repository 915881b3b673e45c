/** Running jobs of the given kinds, and those whose last attempt failed. */
import { Button, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JobStatus } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { CancelJob } from './CancelJob.tsx';
import classes from './JobProgress.module.css';

export function JobProgress({ kinds }: { readonly kinds: readonly string[] }) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const [dismissed, setDismissed] = useState<ReadonlySet<number>>(new Set());
  const jobs = (status?.jobs ?? []).filter(({ kind }) => kinds.includes(kind));
  const shown = jobs.filter((job) => job.state === 'running' || (job.state === 'failed' && isLast(job, jobs)));
  return shown
    .filter(({ id }) => !dismissed.has(id))
    .map((job) => <Line key={job.id} job={job} onDismiss={() => setDismissed(new Set([...dismissed, job.id]))} />);
}

/** Only the latest attempt of a job counts. */
function isLast(job: JobStatus, jobs: readonly JobStatus[]): boolean {
  return !jobs.some((other) => other.title === job.title && other.id > job.id);
}

function Line({ job, onDismiss }: { readonly job: JobStatus; readonly onDismiss: () => void }) {
  const { done, total, unit, step } = job.progress ?? { done: 0, total: 0, unit: '', step: undefined };
  const progress = total === 0 ? null : `${done} of ${total} ${unit}`;
  if (job.state === 'running')
    return (
      <div className={classes.way} role="status">
        <div>
          {job.title}{' '}
          <span className="num soft">{[step, progress].filter((part) => part != null).join(', ') || 'starting …'}</span>
          <Progress value={progress === null ? 0 : (done / total) * 100} mt={6} size="sm" aria-label={job.title} />
        </div>
        <CancelJob id={job.id} />
      </div>
    );
  return (
    <div className={classes.way} data-failed role="alert">
      <div>
        <strong>{job.title}: failed</strong>
        <p>{job.error?.message}</p>
        {job.error?.remedy != null && <p className="soft">{job.error.remedy}</p>}
      </div>
      <Button variant="default" onClick={onDismiss}>
        {' '}
        Dismiss{' '}
      </Button>
    </div>
  );
}
