/** Advice for the next run and the four curves to watch. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { memo, useEffect, useState } from 'react';
import type { Advice, AdvisedRun, Verdict } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { noAdvice } from './no-advice.ts';
import classes from './Run.module.css';

/** How often curves and advice refresh while the run trains. */
const FRESH_MS = 3000;

export interface AdvicePanelProps {
  readonly runId: number;
  readonly isLive: boolean;
  /** Whether it has no process: then nothing more is to come. */
  readonly isEnded: boolean;
  /** The newest step, whose values the tiles show. */
  readonly step: number;
  readonly verdict: Verdict;
  /** SFT has neither reward nor KL to watch. */
  readonly isReinforced: boolean;
}

export const AdvicePanel = memo(function AdvicePanel({
  runId,
  isLive,
  isEnded,
  step,
  verdict,
  isReinforced,
}: AdvicePanelProps) {
  const input = { runId };
  const { data, error, refetch } = useQuery(
    api.runs.advice.queryOptions({ input, refetchInterval: isLive && FRESH_MS }),
  );
  const advice = data ?? [];
  useFreshAt(step, isLive, refetch);
  const [next, setNext] = useState<AdvisedRun | null>(null);
  const apply = useMutation({
    mutationFn: (rules: readonly Advice['rule'][]) => client.runs.advised({ runId, rules: [...rules] }),
    onSuccess: setNext,
  });
  const useful = advice.filter(({ change }) => Object.keys(change).length > 0).map(({ rule }) => rule);
  return (
    <Panel
      title="Key metrics and advice for the next run"
      actions={
        useful.length > 0 && (
          <Button variant="default" loading={apply.isPending} onClick={() => apply.mutate(useful)}>
            Apply to the next run …
          </Button>
        )
      }
    >
      {error !== null && <Failed what="The advice can't be loaded" error={error} />}
      {apply.error !== null && <Failed what="The advice was not applied" error={apply.error} />}
      {isReinforced && <Watched runId={runId} isLive={isLive} step={step} />}
      {data?.length === 0 && <p className={`soft ${classes.note}`}>{noAdvice(verdict, isEnded)}</p>}
      {advice.map(({ rule, severity, message, remedy }) => (
        <p key={`${rule} ${message}`} className={classes.adviceLine} data-severity={severity}>
          {message} <span className={classes.remedy}>{remedy}</span>
        </p>
      ))}
      {next !== null && <FreeRun opened follows={{ runId, ...next }} onClose={() => setNext(null)} />}
    </Panel>
  );
});

/** Long enough for the batch of a step to be stored. */
const SETTLE_MS = 400;

/** Refreshes a query once more when the run has paused, ended or been rolled back; while it trains, it is polled. */
function useFreshAt(step: number, isLive: boolean, refetch: () => unknown): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of the step
  useEffect(() => {
    const timer = setTimeout(refetch, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [step, isLive]);
}

const names = {
  policy_loss: 'Policy loss',
  avg_reward: 'Training reward',
  kl_penalty: 'KL penalty',
  total_loss: 'Total loss',
} as const;

function Watched({ runId, isLive, step }: Pick<AdvicePanelProps, 'runId' | 'isLive' | 'step'>) {
  const {
    data = [],
    error,
    refetch,
  } = useQuery(api.runs.watched.queryOptions({ input: { runId }, refetchInterval: isLive && FRESH_MS }));
  useFreshAt(step, isLive, refetch);
  const hasSteps = data.some(({ points }) => points.length > 0);
  if (data.length === 0 && error !== null)
    return <Failed what="The metrics can't be shown" error={error} onRetry={() => void refetch()} />;
  return (
    <ul className={classes.watched}>
      {data.map(({ name, metric, points, step: at, now }) => (
        <li key={name}>
          <span>
            {names[name]} <span className="mono faint">{metric}</span>
          </span>
          {name === 'kl_penalty' && hasSteps && points.length === 0 ? (
            <em className="faint">not measured: beta is 0</em>
          ) : (
            <>
              <Sparkline
                values={points.map(({ value }) => value)}
                label={`${names[name]}, now ${number(now)}`}
                width={120}
                height={24}
              />
              <span className="num">
                <b>{number(now)}</b>
                {at !== null && <span className="faint"> step {at}</span>}
              </span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
