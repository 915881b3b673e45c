/** Deleting a model: what hangs on it is named before. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ModelEntry } from '../../main/services/model-list.ts';
import type { Dependants } from '../../main/services/models/remove.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes } from '../components/format.ts';

export interface RemoveProps {
  readonly entry: ModelEntry;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function Remove({ entry: { ref, kind, name }, opened, onClose }: RemoveProps) {
  const { data, error } = useQuery(
    api.models.dependants.queryOptions({ input: { ref }, enabled: opened, staleTime: 0 }),
  );
  const remove = useMutation({ mutationFn: () => client.models.remove({ ref }), onSuccess: onClose });
  const verb = kind === 'imported' ? 'Forget' : 'Delete';
  return (
    <Confirm
      opened={opened}
      title={`${verb} ${name}?`}
      action={verb}
      dangerous={kind !== 'imported'}
      disabled={data === undefined || data.refusal !== null}
      mutation={remove}
      onClose={onClose}
    >
      {error !== null && <Failed error={error} />}
      {error === null && data === undefined && <Loading what="what hangs on it" />}
      {data !== undefined && <Consequences dependants={data} />}
    </Confirm>
  );
}

function Consequences({ dependants: { entry, bytes: freed, refusal, runs, stages, checkpoints } }: Told) {
  if (refusal !== null) return <p>{refusal}.</p>;
  const names = (items: readonly { readonly name: string }[]): string => shortened(items.map(({ name }) => name));
  return (
    <>
      <p>
        {entry.kind === 'imported'
          ? 'It goes from the list. Its files stay where they are.'
          : `Its folder is deleted, ${bytes(freed)}. It can't be brought back.`}
      </p>
      {runs.length > 0 && (
        <p>
          {entry.kind === 'checkpoint'
            ? `Runs that started from it, or that could not be resumed without it: ${names(runs)}. What they logged stays.`
            : `Runs that trained it: ${names(runs)}. They can't be resumed; what they logged stays.`}
        </p>
      )}
      {checkpoints.length > 0 && <p>Checkpoints over it that can't be used any more: {shortened(checkpoints)}.</p>}
      {stages.length > 0 && <p>Stages that are to start from it: {names(stages)}. They will refuse to start.</p>}
      {runs.length + checkpoints.length + stages.length === 0 && <p>Nothing depends on it.</p>}
    </>
  );
}

interface Told {
  readonly dependants: Dependants;
}

function shortened(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
