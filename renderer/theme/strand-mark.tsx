/** Two crossing strands: the logo, also used for progress and empty states. */
import classes from './strand-mark.module.css';

export interface StrandMarkProps {
  /** Height in pixels. */
  readonly size?: number;
  /** Progress from 0 to 1; complete by default. */
  readonly progress?: number;
}

// Two mirrored sine-like strands of one period. pathLength makes both 100 long, so that dashes are percentages.
const A = 'M4 6 C 12 6, 14 26, 24 26 S 36 6, 44 6';
const B = 'M4 26 C 12 26, 14 6, 24 6 S 36 26, 44 26';

/** Decorative: the text beside it carries the same information. */
export function StrandMark({ size = 24, progress = 1 }: StrandMarkProps) {
  const dash = `${Math.max(0, Math.min(1, progress)) * 100} 100`;
  return (
    <svg width={size * 1.5} height={size} viewBox="0 0 48 32" aria-hidden="true" className={classes.mark}>
      <path d={A} className={classes.ghost} />
      <path d={B} className={classes.ghost} />
      <path d={B} pathLength={100} strokeDasharray={dash} className={classes.b} />
      <path d={A} pathLength={100} strokeDasharray={dash} className={classes.a} />
    </svg>
  );
}
