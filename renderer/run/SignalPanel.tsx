/** The signal budget: which prompts still teach, and what settings that avoid the others would have saved. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { memo, useMemo, useState } from 'react';
import type { AdvisedRun, SignalBudget, SignalSetting } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { LineChart } from '../charts/LineChart.tsx';
import type { ChartSeries } from '../charts/series.ts';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Failed } from '../components/Feedback.tsx';
import { duration, number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Run.module.css';
import { outcomeSeries, promptWords, savingWords } from './signal.ts';

/** How often the budget is read again while the run trains. */
const FRESH_MS = 5000;
const shares = [0, 1];

export interface SignalPanelProps {
  readonly runId: number;
  readonly isLive: boolean;
}

export const SignalPanel = memo(function SignalPanel({ runId, isLive }: SignalPanelProps) {
  const { data: budget, error } = useQuery(
    api.runs.signal.queryOptions({ input: { runId }, refetchInterval: isLive && FRESH_MS }),
  );
  if (error !== null)
    return (
      <Panel title="Signal budget">
        <Failed what="The signal budget can't be worked out" error={error} />
      </Panel>
    );
  if (budget === undefined || budget === null) return null;
  return <Budget runId={runId} budget={budget} />;
});

const settings: Readonly<Record<SignalSetting, { readonly name: string; readonly about: string }>> = {
  dynamic_sampling: {
    name: 'Dynamic sampling',
    about: 'Samples other prompts, up to three times, in place of groups without spread (DAPO).',
  },
  greso_exploration: {
    name: 'Skipping by history',
    about:
      'Skips a prompt whose last groups had no spread: half of the time after one, more often after several (GRESO).',
  },
  pods_update_size: {
    name: 'Down-sampling',
    about: 'Trains on the half of each group whose rewards vary most (PODS). The steps are cheaper, not fewer.',
  },
  adarft_target_reward: {
    name: 'Difficulty by reward',
    about:
      'Takes the records whose length is nearest to a target that rises and falls with the reward (AdaRFT). Replayed over the groups that this run sampled at each length, with time in proportion to words.',
  },
  scale_rewards: {
    name: 'Advantages by the mean',
    about: 'Divides advantages by the group’s mean reward, so that rare successes count more (MaxRL).',
  },
  use_adaptive_entropy: {
    name: 'Adaptive entropy',
    about: 'Raises and lowers the entropy bonus to keep the entropy at a target.',
  },
};

function Budget({ runId, budget }: { readonly runId: number; readonly budget: SignalBudget }) {
  const series: readonly ChartSeries[] = useMemo(() => outcomeSeries(budget), [budget]);
  const [next, setNext] = useState<AdvisedRun | null>(null);
  const apply = useMutation({
    mutationFn: (setting: SignalSetting) => client.runs.signalNext({ runId, setting }),
    onSuccess: setNext,
  });
  const { seconds, wasted, savings } = budget;
  return (
    <Panel title="Signal budget">
      {apply.error !== null && <Failed what="The next run can't be prepared" error={apply.error} />}
      <div className={classes.main}>
        <LineChart
          title="What the sampled groups taught"
          unit="share"
          about="A group teaches if its rewards differ. Learned: every completion gets the highest reward, where that is known. Dead: all get the same other one."
          series={series}
          stacked
          include={shares}
          height={150}
        />
        <div>
          <p className={classes.note}>{promptWords(budget)}</p>
          <p className={classes.note}>
            <b>{number(Math.round((100 * wasted) / seconds))}%</b> of the time of its steps ({duration(wasted)} of{' '}
            {duration(seconds)}) went to groups that taught nothing.
          </p>
        </div>
      </div>
      <table className={classes.savings}>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">On this run’s history</th>
            <th scope="col">
              <span className="visually-hidden">Next run</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {savings.map((saving) => (
            <tr key={saving.setting}>
              <td>
                {settings[saving.setting].name} <span className="mono faint">{saving.setting}</span>
                <p className="soft">{settings[saving.setting].about}</p>
              </td>
              <td>{savingWords(saving, seconds)}</td>
              <td className={classes.rowActions}>
                {saving.change !== null && (
                  <Button
                    variant="default"
                    loading={apply.isPending && apply.variables === saving.setting}
                    onClick={() => apply.mutate(saving.setting)}
                    aria-label={`Use in the next run …: ${saving.setting}`}
                  >
                    Use in the next run …
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {next !== null && <FreeRun opened follows={{ runId, ...next }} onClose={() => setNext(null)} />}
    </Panel>
  );
}
