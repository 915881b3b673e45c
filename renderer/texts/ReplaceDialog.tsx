/** Asks before datasets are replaced, and names what was made with them. */
import type { TakenName } from '../../main/services/library/make-datasets.ts';
import { Confirm } from '../components/Confirm.tsx';
import classes from './Texts.module.css';

export interface ReplaceDialogProps {
  readonly taken: readonly TakenName[];
  readonly onClose: () => void;
  readonly onReplace: () => void;
}

export function ReplaceDialog({ taken, onClose, onReplace }: ReplaceDialogProps) {
  const replace = { mutate: onReplace, isPending: false, error: null, reset: () => undefined };
  return (
    <Confirm opened title="Replace what is there?" action="Replace" dangerous mutation={replace} onClose={onClose}>
      <ul className={classes.names}>
        {taken.map(({ name, runs, stages }) => (
          <li key={name}>
            <strong>{name}</strong>
            {runs.length > 0 && <span className="soft"> trained {runs.join(', ')}</span>}
            {stages.length > 0 && <span className="soft"> is the dataset of {stages.join(', ')}</span>}
          </li>
        ))}
      </ul>
      <p className="soft">
        The records are made anew. Runs keep their history, but one that was interrupted can't go on with other records.
        Another name keeps both.
      </p>
    </Confirm>
  );
}
