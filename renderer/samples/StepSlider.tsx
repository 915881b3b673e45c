/** A run's saved steps: a strip of their rewards, with a slider below it. */
import { Switch } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import type { StepRewards } from '../../main/api/contract/index.ts';
import { largest, smallest } from '../components/extremes.ts';
import { number, score } from '../components/format.ts';
import { IconButton } from '../components/IconButton.tsx';
import classes from './Samples.module.css';

export interface StepSliderProps {
  readonly steps: readonly StepRewards[];
  readonly step: number;
  /** Whether new steps are shown as they arrive; null: none can. */
  readonly following: boolean | null;
  readonly live: boolean;
  /** Null to follow the newest. */
  readonly onStep: (step: number | null) => void;
}

export function StepSlider({ steps, step, following, live, onStep }: StepSliderProps) {
  const index = steps.findIndex((known) => known.step === step);
  const here = steps[index];
  const go = (to: number): void => {
    const next = steps[to];
    if (next !== undefined) onStep(next.step);
  };
  return (
    <div className={classes.steps}>
      <IconButton aria-label="Previous step (J)" disabled={index <= 0} onClick={() => go(index - 1)}>
        <IconChevronLeft size={16} />
      </IconButton>
      <div className={classes.strip}>
        <Strip steps={steps} />
        <input
          type="range"
          min={0}
          max={Math.max(1, steps.length - 1)}
          value={Math.max(0, index)}
          disabled={steps.length < 2}
          aria-label="Step"
          aria-valuetext={`step ${step}, mean reward ${score(here?.mean)}`}
          onChange={(event) => go(Number(event.currentTarget.value))}
        />
      </div>
      <IconButton aria-label="Next step (K)" disabled={index >= steps.length - 1} onClick={() => go(index + 1)}>
        <IconChevronRight size={16} />
      </IconButton>
      <div className={`num ${classes.where}`}>
        <strong>step {step}</strong>
        <span className="soft">
          {number(index + 1)} of {number(steps.length)} saved
        </span>
        <span className="soft">mean {score(here?.mean)}</span>
      </div>
      {following !== null && (
        <Switch
          label={live ? 'Follow newest' : 'Newest'}
          checked={following}
          onChange={() => onStep(following ? step : null)}
        />
      )}
    </div>
  );
}

/** Lowest to highest as a band, the mean as a line. */
function Strip({ steps }: { readonly steps: readonly StepRewards[] }) {
  const known = steps.flatMap(({ mean, lowest, highest }, x) =>
    Number.isNaN(mean) ? [] : [{ x, mean, lowest, highest }],
  );
  const [low, high] = [
    smallest(
      known.map((at) => at.lowest),
      0,
    ),
    largest(
      known.map((at) => at.highest),
      1,
    ),
  ];
  const y = (value: number): number => 1 - (value - low) / (high - low);
  const line = (value: (at: (typeof known)[number]) => number, of = known): string =>
    of.map((at) => `${at.x} ${y(value(at)).toFixed(4)}`).join(' L');
  const band = `M${line((at) => at.highest)} L${line((at) => at.lowest, [...known].reverse())} Z`;
  return (
    <svg viewBox={`0 0 ${Math.max(1, steps.length - 1)} 1`} preserveAspectRatio="none" aria-hidden="true">
      {known.length > 1 && <path d={band} className={classes.band} />}
      {known.length > 1 && <path d={`M${line((at) => at.mean)}`} className={classes.mean} />}
    </svg>
  );
}
