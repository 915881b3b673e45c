/** Confirms deleting several runs at once. */
import { useMutation } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { counted } from '../components/format.ts';
import { isLive, type RunRowView } from './run-rows.ts';

export interface DeleteRunsProps {
  /** The selected ones; those in training are kept. */
  readonly runs: readonly RunRowView[];
  readonly all: readonly RunRowView[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Names that fit a dialog. */
const SHOWN = 8;

export function DeleteRuns({ runs, all, onClose, onDeleted }: DeleteRunsProps) {
  const [ended, training] = [runs.filter((run) => !isLive(run)), runs.filter(isLive)];
  const going = new Set(ended.map(({ id }) => id));
  const children = all.filter(
    ({ id, parentRunId }) => parentRunId !== null && going.has(parentRunId) && !going.has(id),
  );
  const remove = useMutation({
    mutationFn: async () => {
      for (const { id } of ended) await client.runs.remove({ runId: id });
    },
    onSuccess: () => {
      onClose();
      onDeleted();
    },
  });
  return (
    <Confirm
      opened
      title={`Delete ${counted(ended.length, 'run')}?`}
      action="Delete"
      dangerous
      disabled={ended.length === 0}
      mutation={remove}
      onClose={onClose}
    >
      {ended.length > 0 && (
        <>
          <p>This can't be undone. It deletes the metrics, completions, checkpoints and folders of:</p>
          <Names runs={ended} />
        </>
      )}
      {training.length > 0 && (
        <p>
          In training, and kept: {training.map(({ name }) => name).join(', ')}. Stop{' '}
          {training.length === 1 ? 'it' : 'them'} first.
        </p>
      )}
      {children.length > 0 && (
        <>
          <p>
            <strong>Other runs started from their checkpoints.</strong> They are kept, but can't be restarted from
            there:
          </p>
          <Names runs={children} />
        </>
      )}
    </Confirm>
  );
}

function Names({ runs }: { readonly runs: readonly RunRowView[] }) {
  return (
    <ul>
      {runs.slice(0, SHOWN).map(({ id, name }) => (
        <li key={id}>{name}</li>
      ))}
      {runs.length > SHOWN && <li>and {runs.length - SHOWN} more</li>}
    </ul>
  );
}
