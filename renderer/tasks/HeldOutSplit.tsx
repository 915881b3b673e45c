/** Another split of the Hub's dataset as held-out records: offered where there is a likely one, downloaded when asked. */
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import classes from './Import.module.css';
import type { HeldOutChoice, Source } from './import-source.ts';

export interface HeldOutSplitProps extends HeldOutChoice {
  readonly hub: NonNullable<Source['hub']>;
  /** Another split is to be chosen. */
  readonly onKind: () => void;
  readonly onDownload: (upload: NonNullable<HeldOutChoice['upload']>) => void;
}

export function HeldOutSplit({ hub: { source, split }, kind, upload, onKind, onDownload }: HeldOutSplitProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const known = useQuery(api.imports.hubSplits.queryOptions({ input: { source, split }, retry: false }));
  const download = useMutation({
    mutationFn: async (name: string) => ({
      ...(await client.imports.download({ source, split: name })),
      name,
    }),
    onSuccess: onDownload,
  });
  const { others = [], heldOut = [] } = known.data ?? {};
  const [offered] = heldOut;
  if (kind === 'part')
    return offered === undefined ? null : (
      <p className={classes.chosen}>
        <span>
          This dataset has a split called <span className="mono">{offered}</span>.
        </span>
        <Button variant="default" size="compact-sm" onClick={onKind}>
          Hold out {offered} instead …
        </Button>
      </p>
    );
  const current = chosen ?? offered ?? others[0] ?? '';
  if (known.data !== undefined && others.length === 0)
    return <p className="soft">This dataset has no split but {split}.</p>;
  return (
    <>
      <div className={classes.chosen}>
        {others.length > 0 ? (
          <Choice
            aria-label="Held-out split"
            data={others.map((name) => ({ value: name, label: name }))}
            value={current}
            onChange={setChosen}
            width={180}
          />
        ) : (
          // The Hub doesn't say which there are.
          <TextInput
            aria-label="Held-out split"
            placeholder="test"
            value={current}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            maxLength={100}
          />
        )}
        <Button
          variant="default"
          disabled={current.trim() === '' || current.trim() === upload?.name}
          loading={download.isPending}
          onClick={() => download.mutate(current.trim())}
        >
          Download
        </Button>
        <span className="soft">{upload === null ? 'Not downloaded yet' : `All rows of ${upload.name}`}</span>
      </div>
      {download.error !== null && <Failed what="The split was not downloaded" error={download.error} />}
    </>
  );
}
