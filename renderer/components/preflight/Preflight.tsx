/** What a start would meet, line by line, and then what can be done. A FAIL is overridden only knowingly. */
import { Button, Checkbox, Progress } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Check } from '../../../main/services/doctor.ts';
import type { Preflight as Report, SampledGroups } from '../../../main/services/preflight.ts';
import { api, client } from '../../api/client.ts';
import { Failed } from '../Feedback.tsx';
import { number, score } from '../format.ts';
import { Panel } from '../Screen.tsx';
import classes from './Preflight.module.css';

const icons = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;

export interface PreflightProps {
  readonly title: string;
  readonly look: () => Promise<Report>;
  readonly onClose: () => void;
  /** What can be done then; blocked while something fails and the person has not said that they know. */
  readonly children: (blocked: boolean, report: Report) => ReactNode;
}

export function Preflight({ title, look, onClose, children }: PreflightProps) {
  const check = useMutation({ mutationFn: look });
  const { mutate } = check;
  // It begins when it is opened; React may mount twice in development, the host then has two looks at it.
  useEffect(() => mutate(), [mutate]);
  return (
    <Panel
      title={title}
      actions={
        <>
          <Button variant="default" onClick={() => mutate()} disabled={check.isPending}>
            Check again
          </Button>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      {check.isPending && <Pending />}
      {check.error !== null && <Failed what="The check did not end" error={check.error} onRetry={() => mutate()} />}
      {check.data !== undefined && !check.isPending && <Findings report={check.data}>{children}</Findings>}
    </Panel>
  );
}

/** The job's progress, and the way out of it. */
function Pending() {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const job = status?.jobs.find(({ kind, state }) => kind === 'preflight' && state === 'running');
  const { done = 0, total = 4 } = job?.progress ?? {};
  const doing = ['Opening the model, sampling the first groups', 'Answering held-out prompts', 'Timing steps'];
  return (
    <div className={classes.pending} role="status">
      <span>{doing[done] ?? 'Training on the longest prompt, once, for its memory'} …</span>
      <Progress value={(100 * (done + 0.5)) / total} aria-label="Checks done" />
      {job !== undefined && (
        <Button variant="subtle" onClick={() => void client.app.cancelJob({ id: job.id })}>
          Cancel
        </Button>
      )}
    </div>
  );
}

interface FindingsProps extends Pick<PreflightProps, 'children'> {
  readonly report: Report;
}

function Findings({ report, children }: FindingsProps) {
  const { checks, sampled } = report;
  const [known, setKnown] = useState(false);
  const ways = useRef<HTMLDivElement>(null);
  // On a low window what can be done would stand below the edge.
  useEffect(() => void ways.current?.scrollIntoView({ block: 'nearest' }), []);
  const failing = checks.filter(({ status }) => status === 'FAIL');
  return (
    <>
      <ul className={classes.lines}>
        {checks.map((check) => (
          <Line key={check.name} check={check} />
        ))}
      </ul>
      {failing.length > 0 && (
        <Checkbox
          className={classes.known}
          checked={known}
          onChange={(event) => setKnown(event.currentTarget.checked)}
          label={`I know that ${failing.map(({ name }) => `“${name}”`).join(' and ')} failed, and want to start all the same`}
        />
      )}
      <div ref={ways} className={classes.ways}>
        {children(failing.length > 0 && !known, report)}
      </div>
      {sampled !== null && <Sampled sampled={sampled} />}
    </>
  );
}

function Line({ check: { name, status, detail, next } }: { readonly check: Check }) {
  const Icon = icons[status];
  return (
    <li className={classes.line} data-status={status}>
      <span className={classes.status}>
        <Icon size={15} aria-hidden="true" /> {status}
      </span>
      <strong>{name}</strong>
      <span className={classes.detail}>
        {detail}
        {next !== null && <em>{next}</em>}
      </span>
    </li>
  );
}

/** The rewards of the sampled groups, each group a row of dots on one scale. */
function Sampled({ sampled: { groups, best, worst } }: { readonly sampled: SampledGroups }) {
  return (
    <details className={classes.sampled}>
      <summary>What was sampled: {groups.length} groups</summary>
      <div className={classes.groups}>
        {groups.map((rewards, g) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups have no identity but their place
          <Dots key={g} rewards={rewards} label={`Group ${g + 1}`} />
        ))}
      </div>
      {best !== null && worst !== null && (
        <dl className={classes.samples}>
          <dt>target</dt>
          <dd className="mono">{best.target}</dd>
          <dt>best, {score(best.reward)}</dt>
          <dd className="mono">{best.completion}</dd>
          <dt>worst, {score(worst.reward)}</dt>
          <dd className="mono">{worst.completion}</dd>
        </dl>
      )}
    </details>
  );
}

function Dots({ rewards, label }: { readonly rewards: readonly number[]; readonly label: string }) {
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
  return (
    <svg
      viewBox="-3 0 106 10"
      className={classes.dots}
      role="img"
      aria-label={`${label}: rewards from ${number(low)} to ${number(high)}`}
    >
      <line x1="0" x2="100" y1="5" y2="5" />
      {rewards.map((reward, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: completions have no identity but their place
        <circle key={i} cx={Math.max(0, Math.min(1, reward)) * 100} cy="5" r="2.4" />
      ))}
    </svg>
  );
}
