/** Advice for the next run, the four curves to watch, and what the run costs. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import type { Advice, AdvisedRun } from '../../main/services/advice.ts';
import type { RunCost } from '../../main/services/run-cost.ts';
import { api, client } from '../api/client.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Failed } from '../components/Feedback.tsx';
import { duration, number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Run.module.css';

/** Its curves and its advice need not be newer than this while it trains. */
const FRESH_MS = 3000;

export interface AdvicePanelProps {
  readonly runId: number;
  readonly isLive: boolean;
  /** SFT has neither reward nor KL to watch. */
  readonly isReinforced: boolean;
}

export const AdvicePanel = memo(function AdvicePanel({ runId, isLive, isReinforced }: AdvicePanelProps) {
  const input = { runId };
  const { data: advice = [], error } = useQuery(
    api.runs.advice.queryOptions({ input, refetchInterval: isLive && FRESH_MS }),
  );
  const { data: cost } = useQuery(api.runs.cost.queryOptions({ input, refetchInterval: isLive && FRESH_MS }));
  const [next, setNext] = useState<AdvisedRun | null>(null);
  const apply = useMutation({
    mutationFn: (rules: readonly Advice['rule'][]) => client.runs.advised({ runId, rules: [...rules] }),
    onSuccess: setNext,
  });
  const useful = advice.filter(({ change }) => Object.keys(change).length > 0).map(({ rule }) => rule);
  return (
    <Panel
      title="To watch, and advice for the next run"
      actions={
        <>
          {cost !== undefined && cost.spent.cost !== null && (
            <span className="soft num">
              {cost.left.seconds === 0
                ? `${money(cost.spent)} in all, ${duration(cost.spent.seconds)} of steps`
                : `${money(cost.spent)} so far, ${money(cost.left)} expected for the ${duration(cost.left.seconds)} left`}
            </span>
          )}
          {useful.length > 0 && (
            <Button variant="default" loading={apply.isPending} onClick={() => apply.mutate(useful)}>
              Apply to the next run …
            </Button>
          )}
        </>
      }
    >
      {(error ?? apply.error) !== null && <Failed what="There is no advice" error={error ?? apply.error} />}
      {isReinforced && <Watched runId={runId} isLive={isLive} />}
      {advice.length === 0 && <p className={`soft ${classes.note}`}>No advice: nothing stands out so far.</p>}
      {advice.map(({ rule, severity, message, remedy }) => (
        <p key={`${rule} ${message}`} className={classes.adviceLine} data-severity={severity}>
          {message} <span className={classes.remedy}>{remedy}</span>
        </p>
      ))}
      {next !== null && <FreeRun opened follows={{ runId, ...next }} onClose={() => setNext(null)} />}
    </Panel>
  );
});

const names = {
  policy_loss: 'Policy loss',
  avg_reward: 'Average reward',
  kl_penalty: 'KL penalty',
  total_loss: 'Total loss',
} as const;

function Watched({ runId, isLive }: Pick<AdvicePanelProps, 'runId' | 'isLive'>) {
  const { data = [] } = useQuery(
    api.runs.watched.queryOptions({ input: { runId }, refetchInterval: isLive && FRESH_MS }),
  );
  const hasSteps = data.some(({ points }) => points.length > 0);
  return (
    <ul className={classes.watched}>
      {data.map(({ name, metric, points, now }) => (
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
              <b className="num">{number(now)}</b>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function money({ cost, currency }: RunCost): string {
  return cost === null ? '–' : `${currency}${cost.toFixed(2)}`;
}
