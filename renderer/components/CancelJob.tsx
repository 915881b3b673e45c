/** The Cancel button of a running job; a failure is shown beside it. */
import { Button } from '@mantine/core';
import classes from './CancelJob.module.css';
import { useCancelJob } from './use-cancel-job.ts';

export interface CancelJobProps {
  readonly id: number;
  readonly variant?: 'default' | 'subtle';
}

export function CancelJob({ id, variant = 'default' }: CancelJobProps) {
  const { cancel, isCancelling, failure } = useCancelJob(id);
  return (
    <span className={classes.cancel}>
      {failure !== null && <span role="alert">{failure}</span>}
      <Button variant={variant} disabled={isCancelling} onClick={cancel}>
        {isCancelling ? 'Cancelling …' : 'Cancel'}
      </Button>
    </span>
  );
}
