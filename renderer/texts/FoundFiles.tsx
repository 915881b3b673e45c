/** Dataset files in the workspace that are not listed yet, each with a button to add it. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { FoundFile } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { bytes } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Texts.module.css';

/** Renders nothing if there are none. */
export function FoundFiles() {
  // Fetched on each visit, as another program may have added one.
  const { data = [], error, refetch } = useQuery(api.datasets.found.queryOptions({ refetchOnMount: 'always' }));
  if (data.length === 0)
    return (
      error !== null && (
        <Failed what="The datasets folder can't be listed" error={error} onRetry={() => void refetch()} />
      )
    );
  return (
    <Panel title="Unlisted files in the datasets folder">
      <ul className={classes.found}>
        {data.map((file) => (
          <Found key={file.name} file={file} />
        ))}
      </ul>
    </Panel>
  );
}

function Found({ file: { name, file, bytes: size } }: { readonly file: FoundFile }) {
  const add = useMutation({ mutationFn: () => client.datasets.takeIn({ name }) });
  return (
    <li>
      <span className="mono" title={file}>
        {name}.jsonl
      </span>
      <span className="soft num">{bytes(size)}</span>
      <Button
        size="compact-xs"
        variant="default"
        loading={add.isPending}
        aria-label={`Add ${name}`}
        onClick={() => add.mutate()}
      >
        {' '}
        Add{' '}
      </Button>
      {add.error !== null && <Failed what="The dataset could not be added" error={add.error} />}
    </li>
  );
}
