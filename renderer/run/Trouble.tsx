/** Why a run does not go on: interrupted, failed, collapsed, or paused by the watch; with the way on. */
import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { LiveStatus } from '../../main/services/live-status.ts';
import type { RunSummary } from '../../main/services/run-history.ts';
import classes from './Run.module.css';

export interface TroubleProps {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  /** Of the newest checkpoint that is there; null: none is. */
  readonly savedAt: number | null;
  readonly onResume: () => void;
}

const headings: Readonly<Partial<Record<RunSummary['state'], string>>> = {
  interrupted: 'Interrupted',
  failed: 'Failed',
  collapsed: 'Collapsed: the collapse watch paused the run, and it was ended so',
};

export function Trouble({ run: { state, reason, step }, live, savedAt, onResume }: TroubleProps) {
  if (live !== null) {
    if (live.state !== 'paused' || live.reason === null) return null;
    return (
      <section className={classes.trouble} aria-label="Why the run is paused">
        <IconAlertTriangle size={16} aria-hidden="true" />
        <div>
          <strong>Paused at step {live.step}</strong>
          <p>{live.reason}</p>
        </div>
      </section>
    );
  }
  const heading = headings[state];
  if (heading === undefined) return null;
  const [first, ...rest] = (reason ?? 'No reason was left.').split('\n');
  return (
    <section className={classes.trouble} data-tone="bad" role="alert">
      <IconAlertTriangle size={16} aria-hidden="true" />
      <div>
        <strong>
          {heading} at step {step}.{' '}
          {savedAt === null
            ? 'It had no checkpoint yet: resumed, it begins anew.'
            : `Everything up to its checkpoint of step ${savedAt} is safe.`}
        </strong>
        <p>{first}</p>
        {rest.length > 0 && <pre className="mono">{rest.join('\n')}</pre>}
      </div>
      <Button variant="default" onClick={onResume}>
        Resume from …
      </Button>
    </section>
  );
}
