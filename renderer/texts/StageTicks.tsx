import classes from './StageTicks.module.css';
import { stageWords } from './stages.ts';

/** Which stages a text is long enough for, as a small ladder. */
export function StageTicks({ words }: { readonly words: number }) {
  const served = stageWords.filter((stage) => words >= stage);
  const label = served.length === 0 ? 'serves no stage' : `serves stages up to ${served.at(-1)} words`;
  return (
    <span className={classes.ticks} role="img" aria-label={label} title={label}>
      {stageWords.map((stage) => (
        <span key={stage} data-on={words >= stage || undefined} />
      ))}
    </span>
  );
}
