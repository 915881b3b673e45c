/** Asks before a run goes, naming all that goes with it and the runs that descend from it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';

export interface DeleteRunProps {
  readonly runId: number;
  readonly name: string;
  readonly onClose: () => void;
  readonly onGone: () => void;
}

export function DeleteRun({ runId, name, onClose, onGone }: DeleteRunProps) {
  const { data, error } = useQuery(api.runs.removal.queryOptions({ input: { runId }, staleTime: 0 }));
  const remove = useMutation({
    mutationFn: () => client.runs.remove({ runId }),
    onSuccess: () => {
      onClose();
      onGone();
    },
  });
  return (
    <Confirm opened title={`Delete ${name}?`} action="Delete" dangerous mutation={remove} onClose={onClose}>
      {error !== null && <Failed what="What goes with it could not be found out" error={error} />}
      {data === undefined && error === null && <Loading what="what goes with it" />}
      {data !== undefined && (
        <>
          <p>This can't be taken back. With the run go:</p>
          <ul>
            <li>the metrics of {number(data.steps)} steps</li>
            <li>{number(data.samples)} completions</li>
            <li>{number(data.evaluations)} evaluations</li>
            <li>
              {data.checkpoints.length === 0
                ? 'no checkpoint'
                : `${data.checkpoints.length === 1 ? 'the checkpoint' : 'the checkpoints'} of step ${data.checkpoints.join(', ')}`}
            </li>
            <li>
              the folder <span className="mono">{data.folder}</span>, {bytes(data.bytes)}
            </li>
          </ul>
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
              . They stay, but can't be started again from there, and their lineage ends.
            </p>
          )}
        </>
      )}
    </Confirm>
  );
}
