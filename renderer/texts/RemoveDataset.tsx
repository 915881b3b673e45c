/** Asks before a dataset goes, and names what depends on it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { DatasetDetail } from '../../main/services/library/catalogue.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Texts.module.css';

export interface RemoveDatasetProps {
  readonly id: number;
  readonly onClose: (removed: boolean) => void;
}

export function RemoveDataset({ id, onClose }: RemoveDatasetProps) {
  const { data, error } = useQuery(api.datasets.get.queryOptions({ input: { id } }));
  const remove = useMutation({ mutationFn: () => client.datasets.remove({ id }), onSuccess: () => onClose(true) });
  const title = data === undefined ? 'Delete the dataset?' : `Delete ${data.name}?`;
  return (
    <Confirm opened title={title} action="Delete" dangerous mutation={remove} onClose={() => onClose(false)}>
      {error !== null && !remove.isSuccess && <Failed error={error} />}
      {data === undefined ? error === null && <Loading what="what depends on it" /> : <Going dataset={data} />}
    </Confirm>
  );
}

function Going({ dataset: { trainN, testN, files, dependents, ...rest } }: { readonly dataset: DatasetDetail }) {
  const { stages, runs } = dependents;
  return (
    <>
      <p className="num">
        {number(trainN)} training and {number(testN)} test records go
        {rest.bytes !== null && `, ${bytes(rest.bytes)}`}: <span className={classes.path}>{files.train}</span> and its
        test file.
      </p>
      {stages.length > 0 && (
        <p>
          Without dataset are then {stages.length === 1 ? 'the stage' : 'the stages'}{' '}
          {stages.map(({ name }) => name).join(', ')}.
        </p>
      )}
      {runs.length > 0 && (
        <>
          <p>Trained on it; these keep their history and checkpoints, but none of them can be resumed:</p>
          <ul className={classes.names}>
            {runs.map(({ id, name, state }) => (
              <li key={id}>
                <Link href={`/runs/${id}`}>{name}</Link> <StateBadge state={state} />
              </li>
            ))}
          </ul>
        </>
      )}
      {stages.length + runs.length === 0 && <p className="soft">No stage and no run depends on it.</p>}
    </>
  );
}
