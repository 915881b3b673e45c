/** A name among others: where there isn't room for all of it, the part that tells it from them stays. */
import classes from './DistinctName.module.css';
import type { NameParts } from './tell-apart.ts';
import { visible } from './visible.ts';

export interface DistinctNameProps {
  /** Of `tellApart`. */
  readonly parts: NameParts;
  /** The full name; by default both parts. */
  readonly title?: string | undefined;
}

export function DistinctName({ parts, title = parts.start + parts.end }: DistinctNameProps) {
  const [start, end] = [visible(parts.start), visible(parts.end)];
  if (start === '' || end === '')
    return (
      <span className={classes.whole} title={title}>
        {start}
        {end}
      </span>
    );
  return (
    <span className={classes.name} title={title}>
      {/* Read as one word: two boxes would be read with a space between them. */}
      <span className="visually-hidden">{start + end}</span>
      <span className={classes.start} aria-hidden="true">
        {start}
      </span>
      <span className={classes.end} aria-hidden="true">
        {end}
      </span>
    </span>
  );
}
