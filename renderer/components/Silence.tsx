/** Warns that the trainer has sent nothing for longer than usual, and for how long. */
import { duration } from './format.ts';
import classes from './Silence.module.css';

const MEANING =
  'The trainer sends a heartbeat every few seconds, but none has arrived for longer than its steps take. If none arrives, the trainer is stopped after the time set in Settings, and the run can be resumed from its last checkpoint.';

export function Silence({ seconds }: { readonly seconds: number }) {
  return (
    <span className={`num ${classes.silent}`} title={MEANING}>
      no heartbeat for {duration(seconds)}
    </span>
  );
}
