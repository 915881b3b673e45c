/** What charts of a run's reward share: its held-out scores, and the lines of baseline and goal. Pure. */
import type { RunDetail } from '../../main/api/contract/index.ts';
import { number } from '../components/format.ts';
import type { ReferenceLine } from './overlays.ts';
import type { ChartSeries } from './series.ts';

/** The held-out score at each evaluated step. */
export function heldOutSeries(evaluations: RunDetail['evaluations']): ChartSeries {
  return {
    id: 'held-out',
    label: 'held-out',
    colour: 'strand-b',
    look: 'points',
    x: evaluations.map(({ step }) => step),
    y: evaluations.map(({ mean }) => mean),
  };
}

/** The baseline and the goal of the stage, where there are any. */
export function referenceLines(baseline: number | null, stage: RunDetail['stage']): readonly ReferenceLine[] {
  const goal = stage?.promotion?.at_least;
  return [
    ...(baseline === null ? [] : [{ value: baseline, label: `baseline ${number(baseline)}`, side: 'right' as const }]),
    ...(goal === undefined ? [] : [{ value: goal, label: `goal ${number(goal)}`, colour: 'good' as const }]),
  ];
}
