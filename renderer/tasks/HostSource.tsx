/** A file of records on the machine that runs Braid, read where it is. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { useHostPath } from '../components/host-folders/use-host-path.tsx';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Import.module.css';
import { RECORD_FILES, type Source } from './import-source.ts';

const WANTED = { what: 'file', endings: RECORD_FILES.split(',') } as const;

export function HostSource({ onSource }: { readonly onSource: (source: Source) => void }) {
  const host = useHostPath({
    wanted: WANTED,
    label: 'File',
    placeholder: '~/data/records.jsonl',
    onChoose: (path) => read.mutate(path),
  });
  const read = useMutation({
    mutationFn: async (path: string | null): Promise<Source> => {
      const chosen = path ?? (await host.locate()).path;
      const { uploadId } = await client.imports.refer({ path: chosen });
      return { uploadId, name: chosen.split(/[\\/]/).at(-1) ?? chosen, hub: null };
    },
    onSuccess: onSource,
  });
  return (
    <Panel title="A file on the machine that runs Braid">
      <SubmitForm className={classes.host} onSubmit={() => read.mutate(null)}>
        <p className="soft">Of any size: it is read where it is.</p>
        {host.field}
        {read.error !== null && <Failed what="The file could not be read" error={read.error} />}
        <Button type="submit" variant="default" disabled={host.value.trim() === ''} loading={read.isPending}>
          Read it
        </Button>
      </SubmitForm>
    </Panel>
  );
}
