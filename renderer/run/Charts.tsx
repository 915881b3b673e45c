/** The charts of a run: the reward large, the others in a grid; a click on a step opens its completions. */
import { type ComponentType, type ReactNode, useCallback, useMemo, useState } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { ChartControls } from '../charts/ChartGroup.tsx';
import { isSupervised } from '../charts/curve-query.ts';
import { LineChart } from '../charts/LineChart.tsx';
import type { EventMarker } from '../charts/markers.ts';
import { heldOutSeries, referenceLines } from '../charts/run-series.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { type ChartPanel, panelsFor, rewardLooks } from './panels.ts';
import classes from './Run.module.css';
import { hasEnded, type RunFeed } from './run-feed.ts';
import { StepPanel, type StepPanelProps } from './StepPanel.tsx';
import { type ReadMetrics, useMetrics } from './use-metrics.ts';

export interface ChartsProps {
  readonly feed: RunFeed;
  readonly detail: RunDetail;
  readonly markers: readonly EventMarker[];
  /** Between the reward and the other metrics. */
  readonly children: ReactNode;
  /** What shows the completions of the picked step. */
  readonly Step?: ComponentType<StepPanelProps>;
}

export function Charts({ feed, detail, markers, children, Step = StepPanel }: ChartsProps) {
  const [picked, setPicked] = useState<number | null>(null);
  const { metricNames, sampleSteps } = detail;
  // A run that has just started has no metric names in its record yet, but its first steps have arrived.
  const tailNames = Object.keys(feed.tail.at(-1)?.metrics ?? {}).join('|');
  const names = useMemo(
    () => [...new Set([...metricNames, ...tailNames.split('|')])].filter((name) => name !== ''),
    [metricNames, tailNames],
  );
  const panels = useMemo(() => panelsFor(names), [names]);
  const warmUp = isWarmingUp(names, detail) ? panels.find(({ id }) => id === 'warm-up') : undefined;
  const others = panels.filter((panel) => panel !== warmUp);
  const pick = useCallback((step: number) => setPicked(nearest(sampleSteps, step)), [sampleSteps]);
  const reward = useMetrics(feed, rewardLooks);
  // The reward is painted first: the others together take several times as long.
  const isIdle = useWhenIdle(reward.isRead || reward.error !== null);
  const shared = { feed, markers, picked, onPick: pick };
  return (
    <>
      <div className={classes.main}>
        <Panel>
          {warmUp === undefined ? (
            <RewardChart {...shared} detail={detail} read={reward} />
          ) : (
            <MetricChart {...shared} panel={warmUp} height={FIRST_HEIGHT} />
          )}
        </Panel>
        <Step detail={detail} step={picked} onStep={setPicked} isEnded={hasEnded(feed)} />
      </div>
      {isIdle && children}
      <ChartControls />
      <div className={classes.grid}>
        {isIdle &&
          others.map((panel) => (
            <Panel key={panel.id} {...(panel.wide && { className: classes.wide ?? '' })}>
              <MetricChart {...shared} panel={panel} />
            </Panel>
          ))}
      </div>
    </>
  );
}

interface SharedProps {
  readonly feed: RunFeed;
  readonly markers: readonly EventMarker[];
  readonly picked: number | null;
  readonly onPick: (step: number) => void;
}

/** Whether neither rewards nor held-out scores are there yet to be shown first. */
function isWarmingUp(names: readonly string[], { evaluations }: RunDetail): boolean {
  return names.includes('warm_up/loss') && !names.includes('reward') && evaluations.length === 0;
}

interface MetricChartProps extends SharedProps {
  readonly panel: ChartPanel;
  readonly height?: number;
}

function MetricChart({ feed, panel, height, ...shared }: MetricChartProps) {
  const { series, isRead, error } = useMetrics(feed, panel.looks);
  const { id: _, looks: __, wide = false, ...rest } = panel;
  if (error !== null) return <Failed what={`${panel.title} can't be drawn`} error={error} />;
  return (
    <LineChart
      {...rest}
      {...shared}
      level={2}
      series={series}
      height={height ?? (wide ? 190 : 126)}
      empty={emptyWords(isRead, hasEnded(feed))}
    />
  );
}

function emptyWords(isRead: boolean, isEnded: boolean): string {
  if (!isRead) return '…';
  return isEnded ? 'No values' : 'No values yet';
}

const FIRST_HEIGHT = 320;
const top = [1];
const none: readonly number[] = [];

interface RewardChartProps extends SharedProps {
  readonly detail: RunDetail;
  readonly read: ReadMetrics;
}

function RewardChart({ feed, detail, read, ...shared }: RewardChartProps) {
  const { series: train, isRead, error } = read;
  const { evaluations, baselineScore, stage } = detail;
  // SFT samples nothing: its reward is known from held-out evaluations only.
  const supervised = isSupervised(detail);
  const series = useMemo(() => {
    const evaluated = evaluations.length === 0 ? [] : [heldOutSeries(evaluations)];
    if (supervised) return evaluated;
    // Both at once, as adding the second series later would recreate the chart.
    return isRead ? [...train, ...evaluated] : [];
  }, [train, isRead, evaluations, supervised]);
  const lines = useMemo(() => referenceLines(baselineScore, stage), [baselineScore, stage]);
  if (error !== null) return <Failed what="The reward can't be drawn" error={error} />;
  return (
    <LineChart
      {...shared}
      level={2}
      title={supervised ? 'Held-out score' : 'Reward'}
      about={supervised ? heldOutWords : rewardWords}
      series={series}
      lines={lines}
      include={feed.run.task === 'interleave' ? top : none}
      height={FIRST_HEIGHT}
      empty={supervised ? unmeasured : emptyWords(isRead, hasEnded(feed))}
    />
  );
}

const unmeasured = 'Not measured: the run has no held-out records or no eval_steps';
const heldOutWords = 'Score of greedy completions of held-out prompts, every eval_steps steps.';
const rewardWords =
  'Mean reward of the sampled completions, and the held-out score of greedy completions on unseen texts.';

/** The step with completions that is nearest to the one clicked; the step itself if none has any. */
function nearest(steps: readonly number[], step: number): number {
  return steps.reduce((best, at) => (Math.abs(at - step) < Math.abs(best - step) ? at : best), steps[0] ?? step);
}
