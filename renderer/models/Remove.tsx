/** Removes a model after listing what depends on it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Dependants, ModelEntry } from '../../main/api/contract/index.ts';
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
  const verb = kind === 'imported' ? 'Remove' : 'Delete';
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
      {error === null && data === undefined && <Loading what="what depends on it" />}
      {data !== undefined && <Consequences dependants={data} />}
    </Confirm>
  );
}

function Consequences({
  dependants: { entry, bytes: freed, refusal, runs, stages, waiting, checkpoints },
}: ConsequencesProps) {
  if (refusal !== null) return <p>{refusal}.</p>;
  const names = (items: readonly { readonly name: string }[]): string => shortened(items.map(({ name }) => name));
  const [chosen, following] = [stages.filter((stage) => stage.chosen), stages.filter((stage) => !stage.chosen)];
  return (
    <>
      <p>
        {entry.kind === 'imported'
          ? 'It is removed from the list. Its files stay where they are.'
          : `Its folder (${bytes(freed)}) is deleted. This can't be undone.`}
      </p>
      {runs.length > 0 && (
        <p>
          {entry.kind === 'checkpoint'
            ? `Runs that started from it or need it to resume: ${names(runs)}. Their history is kept.`
            : `Runs that trained it: ${names(runs)}. They can't be resumed, but their history is kept.`}
        </p>
      )}
      {checkpoints.length > 0 && <p>Checkpoints based on it that become unusable: {shortened(checkpoints)}.</p>}
      {chosen.length > 0 && <p>Stages that start from it: {names(chosen)}. They won't be able to start.</p>}
      {following.length > 0 && (
        <p>
          Stages that would start from it: {names(following)}. They will start from an earlier checkpoint, or from the
          base model.
        </p>
      )}
      {waiting.length > 0 && (
        <p>
          Waiting to start from it: {shortened(waiting.map(({ kind, name }) => `${kind} ${name}`))}. They won't be able
          to start.
        </p>
      )}
      {runs.length + checkpoints.length + stages.length + waiting.length === 0 && <p>Nothing depends on it.</p>}
    </>
  );
}

interface ConsequencesProps {
  readonly dependants: Dependants;
}

function shortened(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
