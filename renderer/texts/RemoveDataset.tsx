/** Asks before a dataset goes, and names what depends on it. */
import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { DatasetDetail } from '../../main/services/library/catalogue.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, number } from '../components/format.ts';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Texts.module.css';

export interface RemoveDatasetProps {
  readonly id: number;
  readonly onClose: (removed: boolean) => void;
}

export function RemoveDataset({ id, onClose }: RemoveDatasetProps) {
  const { data, error } = useQuery(api.datasets.get.queryOptions({ input: { id } }));
  const remove = useMutation(api.datasets.remove.mutationOptions({ onSuccess: () => onClose(true) }));
  return (
    <Modal
      opened
      onClose={() => onClose(false)}
      title={data === undefined ? 'Delete the dataset?' : `Delete ${data.name}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error !== null && !remove.isSuccess && <Failed error={error} />}
      {data === undefined ? error === null && <Loading what="what depends on it" /> : <Going dataset={data} />}
      {remove.error !== null && <Failed what="Nothing was deleted" error={remove.error} />}
      <div className={classes.dialogEnd}>
        <Button variant="default" data-autofocus onClick={() => onClose(false)}>
          Keep
        </Button>
        <Button
          color="red"
          disabled={data === undefined}
          loading={remove.isPending}
          onClick={() => remove.mutate({ id })}
        >
          Delete
        </Button>
      </div>
    </Modal>
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
