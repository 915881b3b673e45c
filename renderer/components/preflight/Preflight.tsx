/** The pre-flight check: one line per finding, then the actions. A FAIL has to be overridden explicitly. */

import { Button, Checkbox, Progress } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { Check, Preflight as Report, SampledGroups, StartAdvice } from '../../../main/api/contract/index.ts';
import { api } from '../../api/client.ts';
import { CancelJob } from '../CancelJob.tsx';
import { Conversation } from '../Conversation.tsx';
import { largest, smallest } from '../extremes.ts';
import { Failed } from '../Feedback.tsx';
import { number, score } from '../format.ts';
import { scaleOf } from '../reward-scale.ts';
import { Panel } from '../Screen.tsx';
import { useWaitedFor } from '../use-waited-for.ts';
import { visible } from '../visible.ts';
import classes from './Preflight.module.css';
import { StartServer } from './StartServer.tsx';

const icons = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;

export interface PreflightProps {
  readonly title: string;
  /** `again`: on request. Its signal is aborted when the check is closed: nobody else waits for its result. */
  readonly run: (signal: AbortSignal, again: boolean) => Promise<Report>;
  readonly onClose: () => void;
  /** Sets the steps of the warm-up that the check advises; the run is then another one, and is checked again. */
  readonly onWarmUp: (steps: number) => void;
  /** The actions; blocked while a check fails and the user hasn't acknowledged it. */
  readonly children: (blocked: boolean, report: Report) => ReactNode;
}

export function Preflight({ title, run, onClose, onWarmUp, children }: PreflightProps) {
  const check = useWaitedFor<boolean, Report>((again, { signal }) => run(signal, again));
  const { mutate } = check;
  const again = useCallback(() => mutate(true), [mutate]);
  // Starts on mount. In development React may mount twice, which cancels the first check.
  useEffect(() => mutate(false), [mutate]);
  // The next Tab leads to its buttons, wherever the check was asked for.
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <Panel
      ref={panel}
      title={title}
      actions={
        <>
          <Button variant="default" onClick={again} disabled={check.isPending}>
            Check again
          </Button>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <p className="visually-hidden" role="status">
        {check.data !== undefined && !check.isPending && resultInWords(check.data)}
      </p>
      {check.isPending && <Pending />}
      {check.error !== null && (
        <Failed what="The pre-flight check did not finish" error={check.error} onRetry={again} />
      )}
      {check.data !== undefined && !check.isPending && (
        <Findings report={check.data} onAgain={again} onWarmUp={onWarmUp}>
          {children}
        </Findings>
      )}
    </Panel>
  );
}

/** For screen readers, when the check ends. */
function resultInWords({ checks }: Pick<Report, 'checks'>): string {
  const names = (wanted: Check['status']): string =>
    checks
      .filter(({ status }) => status === wanted)
      .map(({ name }) => name)
      .join(', ');
  const [failed, warned] = [names('FAIL'), names('WARN')];
  if (failed !== '') return `The pre-flight check failed: ${failed}`;
  return warned === '' ? 'The pre-flight check passed' : `The pre-flight check passed, with warnings: ${warned}`;
}

/** The job's progress, with a Cancel button. */
function Pending() {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const job = status?.jobs.find(({ kind, state }) => kind === 'preflight' && state === 'running');
  const { done = 0, total = 4 } = job?.progress ?? {};
  const doing = [
    'Loading the model and sampling the first groups',
    'Evaluating held-out prompts',
    'Timing training steps',
  ];
  return (
    <div className={classes.pending} role="status">
      <span>{doing[done] ?? 'Measuring memory on the longest prompt'} …</span>
      <Progress value={(100 * (done + 0.5)) / total} aria-label="Checks done" />
      {job !== undefined && <CancelJob id={job.id} variant="subtle" />}
    </div>
  );
}

/** Whether another run is training: waiting for it is then the better default. */
export function isCrowded({ checks }: Pick<Report, 'checks'>): boolean {
  return checks.some(({ name, status }) => name === 'Room' && status !== 'OK');
}

/** Whether to start now is the best that one can do: no other run is training, and no warm-up is advised. */
export function isForNow(report: Pick<Report, 'checks' | 'advice'>): boolean {
  return !isCrowded(report) && (report.advice === null || report.advice.warm_up_steps === null);
}

/** Whether the user has to agree to words that the tokenizer can't write before it may start. */
export function needsConsent({ checks }: Pick<Report, 'checks'>): boolean {
  return checks.some(({ name, status }) => name === 'Words' && status === 'FAIL');
}

interface FindingsProps extends Pick<PreflightProps, 'children' | 'onWarmUp'> {
  readonly report: Report;
  readonly onAgain: () => void;
}

function Findings({ report, onAgain, onWarmUp, children }: FindingsProps) {
  const { checks, sampled, advice } = report;
  const [acknowledged, setAcknowledged] = useState(false);
  const actions = useRef<HTMLDivElement>(null);
  // In a short window the actions would be out of view.
  useEffect(() => void actions.current?.scrollIntoView({ block: 'nearest' }), []);
  const failing = checks.filter(({ status }) => status === 'FAIL');
  return (
    <>
      {advice !== null && <WhatToDo advice={advice} onWarmUp={onWarmUp} />}
      <ul className={classes.lines}>
        {checks.map((check) => (
          <Line key={check.name} check={check} />
        ))}
      </ul>
      {report.startFirst !== null && <StartServer engine={report.startFirst} onUp={onAgain} />}
      {failing.length > 0 && (
        <Checkbox
          className={classes.known}
          checked={acknowledged}
          onChange={(event) => setAcknowledged(event.currentTarget.checked)}
          label={`Start anyway: I know that ${failing.map(({ name }) => `“${name}”`).join(' and ')} failed`}
        />
      )}
      <div ref={actions} className={classes.ways}>
        {children(failing.length > 0 && !acknowledged, report)}
      </div>
      {sampled !== null && <Sampled sampled={sampled} />}
    </>
  );
}

interface WhatToDoProps extends Pick<PreflightProps, 'onWarmUp'> {
  readonly advice: StartAdvice;
}

/** One sentence, and a button where it can be done from here. */
function WhatToDo({ advice: { do: what, sentence, warm_up_steps: steps }, onWarmUp }: WhatToDoProps) {
  return (
    <p className={classes.advice} data-do={what}>
      <span>{sentence}</span>
      {steps !== null && <Button onClick={() => onWarmUp(steps)}>Warm up first</Button>}
    </p>
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
  const scale = scaleOf(groups.flat());
  return (
    <details className={classes.sampled}>
      <summary>Sampled groups: {groups.length}</summary>
      <div className={classes.groups}>
        {groups.map((rewards, g) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups are identified by position only
          <Dots key={g} rewards={rewards} scale={scale} label={`Group ${g + 1}`} />
        ))}
      </div>
      {best !== null && worst !== null && (
        <dl className={classes.samples}>
          {best.promptMessages !== undefined && (
            <>
              <dt>Prompt</dt>
              <dd>
                <Conversation messages={best.promptMessages} label="Prompt" user="User" />
              </dd>
            </>
          )}
          <dt>Target</dt>
          <dd className="mono">{best.target}</dd>
          <dt>Best, {score(best.reward)}</dt>
          <dd className="mono">{visible(best.completion)}</dd>
          <dt>Worst, {score(worst.reward)}</dt>
          <dd className="mono">{visible(worst.completion)}</dd>
        </dl>
      )}
    </details>
  );
}

interface DotsProps {
  readonly rewards: readonly number[];
  /** The ends of the line, the same for all groups. */
  readonly scale: readonly [low: number, high: number];
  readonly label: string;
}

function Dots({ rewards, scale: [from, to], label }: DotsProps) {
  const [low, high] = [smallest(rewards), largest(rewards)];
  return (
    <svg
      viewBox="-3 0 106 10"
      className={classes.dots}
      role="img"
      aria-label={`${label}: rewards from ${number(low)} to ${number(high)}`}
    >
      <line x1="0" x2="100" y1="5" y2="5" />
      {rewards.map((reward, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: completions are identified by position only
        <circle key={i} cx={((reward - from) / (to - from)) * 100} cy="5" r="2.4" />
      ))}
    </svg>
  );
}
