/** How far something is, as a thin bar. It looks like Mantine's, which costs the pages that have it on top more. */
import classes from './ProgressBar.module.css';

export interface ProgressBarProps {
  readonly 'aria-label': string;
  /** In hundredths. */
  readonly value: number;
}

export function ProgressBar({ value, 'aria-label': label }: ProgressBarProps) {
  return (
    <div
      className={classes.bar}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(value)}
    >
      <div style={{ width: `${value}%` }} />
    </div>
  );
}
