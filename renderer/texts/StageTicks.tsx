import classes from './StageTicks.module.css';
import { stageWords } from './stages.ts';

/** Which stages a text is long enough for, as a small ladder. */
export function StageTicks({ words }: { readonly words: number }) {
  const stages = stageWords.filter((stage) => words >= stage);
  const label = stages.length === 0 ? 'too short for any stage' : `long enough for stages up to ${stages.at(-1)} words`;
  return (
    <span className={classes.ticks} role="img" aria-label={label} title={label}>
      {stageWords.map((stage) => (
        <span key={stage} data-on={words >= stage || undefined} />
      ))}
    </span>
  );
}
