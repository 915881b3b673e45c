/** Where models differ: by position in the target, by length and by prompt. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ComparisonView } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { binsOf } from '../charts/bins.ts';
import { Histogram } from '../charts/Histogram.tsx';
import { LineChart } from '../charts/LineChart.tsx';
import { largest } from '../components/extremes.ts';
import { counted, score, signed } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Compare.module.css';
import { gainsOf } from './prompt-rows.ts';
import { labelsOf, lengthSeries, lookOf, positionSeries, stepSeries } from './series.ts';

export interface GainRange {
  readonly from: number;
  readonly to: number;
}

export interface ChartsProps {
  readonly view: ComparisonView;
  readonly chosen: number;
  /** The selected bar of the gains histogram. */
  readonly gains: GainRange | null;
  readonly onGains: (gains: GainRange | null) => void;
}

const SCORE_BINS = 20;
const GAIN_BINS = 20;
const ends = [0, 1];

export function Charts({ view: { models, rows, metric }, chosen, gains, onGains }: ChartsProps) {
  const labels = useMemo(() => labelsOf(models), [models]);
  const byPosition = useMemo(() => positionSeries(models), [models]);
  const byLength = useMemo(() => lengthSeries(models), [models]);
  const { data: entries } = useQuery(api.models.list.queryOptions());
  const byStep = useMemo(() => stepSeries(models, entries ?? []), [models, entries]);
  const baseline = models[0]?.summary?.mean_alignment;
  const lines = useMemo(
    () =>
      baseline == null || Number.isNaN(baseline) ? [] : [{ value: baseline, label: `baseline ${score(baseline)}` }],
    [baseline],
  );
  const hasPositions = byPosition.some(({ x }) => x.length > 0);
  const lengths = hasPositions ? new Set(rows.map(({ words }) => words)).size : 0;
  return (
    <div className={classes.charts}>
      {byStep.length > 0 && (
        <Panel className={classes.across ?? ''}>
          <LineChart
            level={2}
            title="Score by checkpoint"
            about="Mean score of each checkpoint on the same prompts, with 95% intervals."
            series={byStep}
            lines={lines}
            format={score}
            height={180}
          />
        </Panel>
      )}
      {hasPositions && (
        <Panel>
          <LineChart
            level={2}
            title="Correct words by position"
            about="Share of prompts with the right word at each position of the target."
            xName="word"
            showsLast={false}
            series={byPosition}
            include={ends}
            format={score}
            height={lengths > 1 ? 150 : 232}
          />
          {lengths > 1 && (
            <LineChart
              level={2}
              title="Alignment by length"
              showsLast={false}
              about="Mean alignment by words per fragment, with 95% intervals. A trained model below the baseline at other lengths is forgetting."
              xName="words per fragment"
              series={byLength}
              include={ends}
              format={score}
              height={150}
            />
          )}
        </Panel>
      )}
      <Panel className={classes.stack ?? ''}>
        {[0, chosen].map((position) => (
          <Histogram
            key={position}
            title={`Scores of ${labels[position]}`}
            label={`Prompts by score of ${models[position]?.name ?? ''}`}
            bins={binsOf(
              rows.flatMap(({ scores }) => scores[position] ?? []),
              SCORE_BINS,
              metric.low,
              metric.high,
            )}
            unit="prompts"
            colour={lookOf(position).colour}
            height={72}
            format={shortScore}
          />
        ))}
      </Panel>
      <Panel className={classes.stack ?? ''}>
        <Gains gains={gainsOf(rows, chosen)} {...{ picked: gains, onPick: onGains }} />
        {lengths === 1 && (
          <p className="soft">
            All prompts have {counted(rows[0]?.words ?? 0, 'word')} per fragment. Add datasets of other lengths to see
            the score by length, and forgetting.
          </p>
        )}
      </Panel>
    </div>
  );
}

interface GainsProps {
  readonly gains: readonly number[];
  readonly picked: GainRange | null;
  readonly onPick: (range: GainRange | null) => void;
}

/** Symmetric around 0, with losses on the left; clicking a bar filters the prompt list. */
function Gains({ gains, picked, onPick }: GainsProps) {
  const limit = Math.max(0.1, Math.ceil(largest(gains.map(Math.abs), 0) * 10) / 10);
  const bins = binsOf(gains, GAIN_BINS, -limit, limit);
  const index = picked === null ? -1 : bins.findIndex(({ from }) => from === picked.from);
  return (
    <Histogram
      title="Gain over the baseline; click a bar to filter"
      label="Prompts by gain over the baseline"
      bins={bins}
      unit="prompts"
      colour="soft"
      height={96}
      format={signed}
      marks={[{ value: 0, label: '0' }]}
      picked={index < 0 ? null : index}
      onPick={(at) => {
        const bin = at === null ? undefined : bins[at];
        // The last bar includes its upper bound.
        const to = at === bins.length - 1 ? Number.POSITIVE_INFINITY : (bin?.to ?? 0);
        onPick(bin === undefined ? null : { from: bin.from, to });
      }}
    />
  );
}

function shortScore(value: number): string {
  return String(Number(value.toFixed(2)));
}
