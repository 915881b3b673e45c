/** Confirms deleting a dataset, and lists what depends on it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { DatasetDetail } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, counted, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Texts.module.css';

export interface RemoveDatasetProps {
  readonly id: number;
  readonly onClose: (removed: boolean) => void;
}

export function RemoveDataset({ id, onClose }: RemoveDatasetProps) {
  const { data, error } = useQuery(api.datasets.get.queryOptions({ input: { id }, staleTime: 0 }));
  const remove = useMutation({ mutationFn: () => client.datasets.remove({ id }), onSuccess: () => onClose(true) });
  const title = data === undefined ? 'Delete the dataset?' : `Delete ${data.name}?`;
  return (
    <Confirm opened title={title} action="Delete" dangerous mutation={remove} onClose={() => onClose(false)}>
      {error !== null && !remove.isSuccess && <Failed error={error} />}
      {data === undefined ? error === null && <Loading what="what depends on it" /> : <Consequences dataset={data} />}
    </Confirm>
  );
}

function Consequences({
  dataset: { trainN, testN, files, filesGo, dependents, ...rest },
}: {
  readonly dataset: DatasetDetail;
}) {
  const { stages, runs, waiting, paused } = dependents;
  return (
    <>
      <p className="num">
        This deletes {number(trainN)} training and {counted(testN, 'test record')}
        {filesGo && rest.bytes !== null && `, ${bytes(rest.bytes)}`}:{' '}
        <span className={classes.path}>{files.train}</span> and its test file
        {filesGo ? '.' : ' leave the list. The files themselves are outside the workspace and stay.'}
      </p>
      {stages.length > 0 && (
        <p>
          {stages.length === 1 ? 'This stage' : 'These stages'} will have no dataset:{' '}
          {stages.map(({ name }) => name).join(', ')}.
        </p>
      )}
      {runs.length > 0 && (
        <>
          <p>These runs were trained on it. They keep their history and checkpoints, but can't be resumed:</p>
          <ul className={classes.names}>
            {runs.map(({ id, name, state }) => (
              <li key={id}>
                <Link href={`/runs/${id}`}>{name}</Link> <StateBadge state={state} />
              </li>
            ))}
          </ul>
        </>
      )}
      {waiting.length > 0 && (
        <p>
          Waiting in the queue, and needs it: {waiting.map(({ kind, name }) => `${kind} ${name}`).join(', ')}. Remove{' '}
          {waiting.length === 1 ? 'it' : 'them'} from the queue first.
        </p>
      )}
      {paused.length > 0 && (
        <p>
          {paused.length === 1 ? 'This paused sweep' : 'These paused sweeps'} can't continue without it:{' '}
          {paused.join(', ')}.
        </p>
      )}
      {stages.length + runs.length + waiting.length + paused.length === 0 && (
        <p className="soft">No stage or run depends on it.</p>
      )}
    </>
  );
}
