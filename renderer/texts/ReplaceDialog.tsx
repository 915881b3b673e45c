/** Confirms replacing datasets, and lists what uses them. */
import type { TakenName } from '../../main/api/contract/index.ts';
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
    <Confirm opened title="Replace existing datasets?" action="Replace" dangerous mutation={replace} onClose={onClose}>
      <ul className={classes.names}>
        {taken.map(({ name, runs, stages }) => (
          <li key={name}>
            <strong>{name}</strong>
            {runs.length > 0 && <span className="soft"> was used to train {runs.join(', ')}</span>}
            {stages.length > 0 && <span className="soft"> is the dataset of {stages.join(', ')}</span>}
          </li>
        ))}
      </ul>
      <p className="soft">
        The records are generated again. Runs keep their history, but interrupted runs can't be resumed with different
        records. To keep both, use another name.
      </p>
    </Confirm>
  );
}
