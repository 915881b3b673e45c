import { Progress } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { JobStatus } from '../../main/api/contract/index.ts';
import { CancelJob } from '../components/CancelJob.tsx';
import classes from './Replies.module.css';

/** Running reply jobs with their progress and a Cancel button, or the error of the last one. */
export function JobLine({ jobs }: { readonly jobs: readonly JobStatus[] }) {
  return jobs.map((job) => <Line key={job.id} job={job} />);
}

function Line({ job: { id, title, progress, error } }: { readonly job: JobStatus }) {
  if (error !== null) {
    return (
      <div className={classes.job} role="alert" data-tone="bad">
        <IconAlertTriangle size={15} aria-hidden="true" />
        <p>
          <strong>{title} failed.</strong> {error.message}. {error.remedy}
        </p>
      </div>
    );
  }
  return (
    <div className={classes.job} role="status">
      <strong>{title}</strong>
      <Progress
        className={classes.progress}
        value={progress === null || progress.total === 0 ? 0 : (progress.done / progress.total) * 100}
        size="sm"
        aria-label={title}
      />
      <span className="num">
        {progress === null ? 'starting …' : `${progress.done}/${progress.total} ${progress.unit}`}
      </span>
      <CancelJob id={id} />
    </div>
  );
}
