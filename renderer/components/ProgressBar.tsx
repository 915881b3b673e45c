/** A thin progress bar. It looks like Mantine's Progress, which is more expensive to render. */
import classes from './ProgressBar.module.css';

export interface ProgressBarProps {
  readonly 'aria-label': string;
  /** In percent. */
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
