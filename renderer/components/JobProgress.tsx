/** Running jobs of the given kinds, and those whose last attempt failed. */
import { Button, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JobStatus } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { CancelJob } from './CancelJob.tsx';
import { hostNow } from './host-time.ts';
import classes from './JobProgress.module.css';

/** How long the end of a job is news. */
const NEWS_MS = 600_000;

export interface JobProgressProps {
  readonly kinds: readonly string[];
  /** Says that a job of these kinds has ended, and what it has made. */
  readonly done?: { readonly kind: string; readonly words: string };
}

export function JobProgress({ kinds, done }: JobProgressProps) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const [dismissed, setDismissed] = useState<ReadonlySet<number>>(new Set());
  const isNews = ({ kind, state, endedAt }: JobStatus): boolean =>
    kind === done?.kind && state === 'done' && hostNow() - (endedAt ?? 0) < NEWS_MS;
  const jobs = (status?.jobs ?? []).filter(({ kind }) => kinds.includes(kind));
  const shown = jobs.filter(
    (job) => job.state === 'running' || (job.state === 'failed' && isLast(job, jobs)) || isNews(job),
  );
  return shown
    .filter(({ id }) => !dismissed.has(id))
    .map((job) => (
      <Line
        key={job.id}
        job={job}
        words={done?.words ?? ''}
        onDismiss={() => setDismissed(new Set([...dismissed, job.id]))}
      />
    ));
}

/** Only the latest attempt of a job counts. */
function isLast(job: JobStatus, jobs: readonly JobStatus[]): boolean {
  return !jobs.some((other) => other.title === job.title && other.id > job.id);
}

interface LineProps {
  readonly job: JobStatus;
  /** For one that is done. */
  readonly words: string;
  readonly onDismiss: () => void;
}

function Line({ job, words, onDismiss }: LineProps) {
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
    <div
      className={classes.way}
      data-failed={job.state === 'failed' || undefined}
      role={job.state === 'failed' ? 'alert' : 'status'}
    >
      <div>
        <strong>
          {job.title}: {job.state}
        </strong>
        <p>{job.error?.message ?? words}</p>
        {job.error?.remedy != null && <p className="soft">{job.error.remedy}</p>}
      </div>
      <Button variant="default" onClick={onDismiss}>
        {' '}
        Dismiss{' '}
      </Button>
    </div>
  );
}
