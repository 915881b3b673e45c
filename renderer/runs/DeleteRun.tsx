/** Confirms deleting a run, listing what is deleted with it and its descendants. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';

export interface DeleteRunProps {
  readonly runId: number;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteRun({ runId, name, onClose, onDeleted }: DeleteRunProps) {
  const { data, error } = useQuery(api.runs.removal.queryOptions({ input: { runId }, staleTime: 0 }));
  const remove = useMutation({
    mutationFn: () => client.runs.remove({ runId }),
    onSuccess: () => {
      onClose();
      onDeleted();
    },
  });
  return (
    <Confirm opened title={`Delete ${name}?`} action="Delete" dangerous mutation={remove} onClose={onClose}>
      {error !== null && <Failed what="The run's contents can't be listed" error={error} />}
      {data === undefined && error === null && <Loading what="the run's contents" />}
      {data !== undefined && (
        <>
          <p>This can't be undone. It deletes:</p>
          <ul>
            <li>the metrics of {counted(data.steps, 'step')}</li>
            <li>{counted(data.samples, 'completion')}</li>
            <li>{counted(data.evaluations, 'evaluation')}</li>
            <li>
              {data.checkpoints.length === 0
                ? 'no checkpoint'
                : `${data.checkpoints.length === 1 ? 'the checkpoint' : 'the checkpoints'} of step ${data.checkpoints.join(', ')}`}
            </li>
            {data.folder !== null && (
              <li>
                the folder <span className="mono">{data.folder}</span>, {bytes(data.bytes)}
              </li>
            )}
          </ul>
          {data.folder === null && <p>Its folder is not one that Braid made in this workspace: the files stay.</p>}
          {data.descendants.length > 0 && (
            <p>
              <strong>Other runs started from its checkpoints:</strong>{' '}
              {data.descendants.map(({ id, name: child, fromStep }, i) => (
                <span key={id}>
                  {i > 0 && ', '}
                  <Link href={`/runs/${id}`} onClick={onClose}>
                    {child}
                  </Link>
                  {fromStep !== null && ` (step ${fromStep})`}
                </span>
              ))}
              . They are kept, but can't be restarted from there, and their lineage ends here.
            </p>
          )}
          {data.stages.length > 0 && (
            <p>
              <strong>Stages that would start from its checkpoints:</strong> {data.stages.join(', ')}. They will start
              from an earlier checkpoint or the base model; one whose settings name the checkpoint can't start.
            </p>
          )}
          {data.waiting.length > 0 && (
            <p>
              <strong>Waiting to start from its checkpoints:</strong> {data.waiting.join(', ')}. They won't be able to
              start.
            </p>
          )}
        </>
      )}
    </Confirm>
  );
}
