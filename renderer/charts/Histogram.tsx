/** A histogram whose bars are buttons: how many values fall into each bin. */
import type { ReactNode } from 'react';
import classes from './Histogram.module.css';
import type { ChartColour } from './series.ts';

export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Label under the bar, if not the bin's bounds. */
  readonly label?: string;
}

export interface HistogramProps {
  readonly title: ReactNode;
  /** Accessible name of the figure: "Rewards of the group". */
  readonly label: string;
  readonly bins: readonly HistogramBin[];
  /** What is counted: "texts". */
  readonly unit: string;
  readonly colour?: ChartColour;
  readonly height?: number;
  /** What is on the axis, between its ends: "words per text". */
  readonly axis?: string;
  readonly format?: (value: number) => string;
  readonly onPick?: (index: number | null) => void;
  readonly picked?: number | null;
  /** Values to mark with a line, in the bins' unit, such as the stages' lengths. */
  readonly marks?: readonly { readonly value: number; readonly label: string }[];
}

export function Histogram({
  title,
  label,
  bins,
  unit,
  colour = 'strand-a',
  height = 96,
  axis,
  format = String,
  onPick,
  picked = null,
  marks = [],
}: HistogramProps) {
  const maxCount = Math.max(1, ...bins.map(({ count }) => count));
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1];
  return (
    <figure className={classes.histogram} aria-label={label}>
      <figcaption>{title}</figcaption>
      <div className={classes.bars} data-marked={marks.length > 0 || undefined} style={{ height }}>
        {bins.map((bin, index) => (
          <Bar
            key={bin.from}
            {...{ colour, unit, maxCount }}
            name={bin.label ?? `${format(bin.from)} to ${format(bin.to)}`}
            count={bin.count}
            picked={picked === index}
            onPick={onPick && (() => onPick(picked === index ? null : index))}
          />
        ))}
        {marks
          .filter(({ value }) => value >= low && value <= high)
          .map(({ value, label: name }) => (
            <span
              key={value}
              className={classes.mark}
              style={{ left: `${((value - low) / (high - low || 1)) * 100}%` }}
            >
              {name}
            </span>
          ))}
      </div>
      <div className={`${classes.axis} num`} data-ends={axis !== undefined || undefined} aria-hidden="true">
        {bins.some((bin) => bin.label !== undefined) ? (
          bins.map((bin) => <span key={bin.from}>{bin.label}</span>)
        ) : (
          <>
            <span>{format(low)}</span>
            {axis !== undefined && <span>{axis}</span>}
            <span>{format(high)}</span>
          </>
        )}
      </div>
    </figure>
  );
}

interface BarProps {
  readonly name: string;
  readonly count: number;
  readonly maxCount: number;
  readonly unit: string;
  readonly colour: ChartColour;
  readonly picked: boolean;
  readonly onPick: (() => void) | undefined;
}

function Bar({ name, count, maxCount, unit, colour, picked, onPick }: BarProps) {
  const text = `${name}: ${count} ${unit}`;
  const bar = (
    <span
      className={classes.bar}
      style={{ height: count === 0 ? 0 : `max(2px, ${(count / maxCount) * 100}%)`, background: `var(--${colour})` }}
    />
  );
  if (onPick === undefined) {
    return (
      <span className={classes.bin} role="img" aria-label={text} title={text}>
        {bar}
      </span>
    );
  }
  return (
    <button type="button" className={classes.bin} aria-label={text} aria-pressed={picked} title={text} onClick={onPick}>
      {bar}
    </button>
  );
}
