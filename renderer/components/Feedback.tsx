/** Empty, loading and error states; each says what is going on and what to do next. */
import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { failureOf } from '../api/failure.ts';
import { StrandMark } from '../theme/strand-mark.tsx';
import classes from './Feedback.module.css';
import { Link } from './Link.tsx';

/** Nothing here yet. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <StrandMark size={36} />
      <p className={classes.title}>{title}</p>
      {children}
    </div>
  );
}

/** A loading indicator, shown only after a short delay. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div className={classes.loading} role="status">
      <span className={classes.spinner} aria-hidden="true" />
      <span>Loading {what} …</span>
    </div>
  );
}

export interface FailedProps {
  readonly error: unknown;
  /** Heading that says what failed: "The run could not be started". */
  readonly what?: string;
  readonly onRetry?: () => void;
}

/** An error, shown where it happened. */
export function Failed({ error, what, onRetry }: FailedProps) {
  const { message, remedy, code } = failureOf(error);
  return (
    <div className={classes.failed} role="alert">
      <IconAlertTriangle size={16} aria-hidden="true" />
      <div>
        {what !== undefined && <strong>{what}</strong>}
        <p>{message}</p>
        {remedy !== null && <p className={classes.remedy}>{remedy}</p>}
      </div>
      {code === 'CONVERSATIONS' && <Link href="/tasks/conversation/import">Import as conversations …</Link>}
      {onRetry !== undefined && (
        <Button variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
