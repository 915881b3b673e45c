/** A trainer that has said nothing for longer than usual: for how long, and what comes of it. */
import { duration } from './format.ts';
import classes from './Silence.module.css';

const MEANING =
  'The trainer tells every few seconds that it lives, and has not for longer than its steps take. If it stays silent, it is ended (Settings says when), and the run can go on from its last checkpoint.';

export function Silence({ seconds }: { readonly seconds: number }) {
  return (
    <span className={`num ${classes.silent}`} title={MEANING}>
      silent for {duration(seconds)}
    </span>
  );
}
