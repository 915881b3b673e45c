/** Asks before datasets are replaced, and names what was made with them. */
import { Button, Modal } from '@mantine/core';
import type { TakenName } from '../../main/services/library/make-datasets.ts';
import classes from './Texts.module.css';

export interface ReplaceDialogProps {
  readonly taken: readonly TakenName[];
  readonly onClose: () => void;
  readonly onReplace: () => void;
}

export function ReplaceDialog({ taken, onClose, onReplace }: ReplaceDialogProps) {
  return (
    <Modal opened onClose={onClose} title="Replace what is there?" closeButtonProps={{ 'aria-label': 'Close' }}>
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
      <div className={classes.dialogEnd}>
        <Button variant="default" data-autofocus onClick={onClose}>
          Keep
        </Button>
        <Button color="red" onClick={onReplace}>
          Replace
        </Button>
      </div>
    </Modal>
  );
}
