/** A tiny line chart beside a number that shows the shape of a series. */
import classes from './Sparkline.module.css';
import type { ChartColour } from './series.ts';
import { sparkPath } from './spark-path.ts';

export interface SparklineProps {
  readonly values: readonly (number | null)[];
  /** Accessible name: "reward, from 0.42 to 0.98". */
  readonly label: string;
  readonly colour?: ChartColour;
  readonly width?: number;
  readonly height?: number;
  /** Shared scale for sparklines in the same column. */
  readonly min?: number;
  readonly max?: number;
}

export function Sparkline({ values, label, colour = 'strand-a', width = 96, height = 20, min, max }: SparklineProps) {
  const { path, end } = sparkPath(values, { width, height, min, max });
  return (
    <svg
      className={classes.spark}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
      style={{ color: `var(--${colour})` }}
    >
      <path d={path} />
      {end !== null && <circle cx={end[0]} cy={end[1]} r={1.8} />}
    </svg>
  );
}
