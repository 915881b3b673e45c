/** Dataset files that lie in the workspace but are not listed: one click lists them. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { FoundFile } from '../../main/services/library/found-files.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { bytes } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Texts.module.css';

/** Shows nothing where there are none. */
export function FoundFiles() {
  // Another program may have put one there since: asked for at each visit.
  const { data = [] } = useQuery(api.datasets.found.queryOptions({ refetchOnMount: 'always' }));
  if (data.length === 0) return null;
  return (
    <Panel title="Also in the folder of datasets, not listed yet">
      <ul className={classes.found}>
        {data.map((file) => (
          <Found key={file.name} file={file} />
        ))}
      </ul>
    </Panel>
  );
}

function Found({ file: { name, file, bytes: size } }: { readonly file: FoundFile }) {
  const take = useMutation({ mutationFn: () => client.datasets.takeIn({ name }) });
  return (
    <li>
      <span className="mono" title={file}>
        {name}.jsonl
      </span>
      <span className="soft num">{bytes(size)}</span>
      <Button
        size="compact-xs"
        variant="default"
        loading={take.isPending}
        aria-label={`Take in ${name}`}
        onClick={() => take.mutate()}
      >
        Take in
      </Button>
      {take.error !== null && <Failed what="Not taken in" error={take.error} />}
    </li>
  );
}
