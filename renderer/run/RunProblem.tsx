/**
 * Says why a run isn't training (interrupted, failed, collapsed, or paused by the collapse watch), and what is safe. The
 * button that resumes it is in the header.
 */
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { LiveStatus, RunDetail, RunSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Lacks } from './Lacks.tsx';
import classes from './Run.module.css';

export interface RunProblemProps {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  /** Step of the newest checkpoint that still exists; null if there is none. */
  readonly savedAt: number | null;
  /** What is missing to resume it. */
  readonly lacks: readonly string[];
  readonly events: readonly Pick<RunDetail['events'][number], 'kind' | 'message' | 'remedy'>[];
}

const headings: Readonly<Partial<Record<RunSummary['state'], string>>> = {
  interrupted: 'Interrupted',
  failed: 'Failed',
  collapsed: 'Collapsed (paused by the collapse watch, then ended)',
};

/** What to do about the end of a run: as its last event with that reason says. */
function remedyFor(reason: string | null, events: RunProblemProps['events']): string | null {
  return events.findLast(({ message }) => message === reason)?.remedy ?? null;
}

export function RunProblem({ run: { id, state, reason, step }, live, savedAt, lacks, events }: RunProblemProps) {
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
  const newest = events.at(-1);
  const notResumed = newest?.kind === 'failed' && newest.message !== reason ? <NotResumed {...newest} /> : null;
  if (heading === undefined) return notResumed;
  const [first, ...rest] = (reason ?? 'No reason was recorded.').split('\n');
  // Of an interrupted one the heading says it, with or without a checkpoint.
  const remedy = state === 'interrupted' ? null : remedyFor(reason, events);
  return (
    <>
      {notResumed}
      <section className={classes.trouble} data-tone="bad" role="alert">
        <IconAlertTriangle size={16} aria-hidden="true" />
        <div>
          <strong>
            {heading} at step {step}.{' '}
            {savedAt === null
              ? 'There was no checkpoint yet, so resuming restarts the run.'
              : `Everything up to the checkpoint at step ${savedAt} is safe.`}
          </strong>
          <p>{first}</p>
          {remedy !== null && <p>{remedy}</p>}
          {lacks.length > 0 && (
            <p>
              <Lacks lacks={lacks} />
            </p>
          )}
          <Details runId={id} said={rest.join('\n')} />
        </div>
      </section>
    </>
  );
}

/** A run that could not be resumed has still ended as it had. */
function NotResumed({ message, remedy }: RunProblemProps['events'][number]) {
  return (
    <section className={classes.trouble} data-tone="bad" role="alert">
      <IconAlertTriangle size={16} aria-hidden="true" />
      <div>
        <strong>It was not resumed, and is as it was.</strong>
        <p>{message}</p>
        {remedy !== null && <p>{remedy}</p>}
      </div>
    </section>
  );
}

/** Everything that the trainer said, which may be long and mostly a library's log. */
function Details({ runId, said }: { readonly runId: number; readonly said: string }) {
  const { data } = useQuery(api.runs.stderr.queryOptions({ input: { runId } }));
  const text = data?.text ?? said;
  if (text === '') return null;
  return (
    <details>
      <summary>Details</summary>
      <pre className="mono">{text}</pre>
    </details>
  );
}
