/** A dataset of the Hugging Face Hub: its rows are shown before anything is downloaded. */
import { Button, Table, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { HubPreview } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Import.module.css';
import type { Source } from './import-source.ts';
import { cell } from './import-words.ts';

export interface HubSourceProps {
  readonly onSource: (source: Source) => void;
}

const ROWS = 5;

export function HubSource({ onSource }: HubSourceProps) {
  const [name, setName] = useState('');
  const [split, setSplit] = useState('train');
  const source = `hf:${name.trim().replace(/^hf:/, '')}`;
  const preview = useMutation({ mutationFn: () => client.imports.hubPreview({ source, split: split.trim() || null }) });
  const download = useMutation({
    mutationFn: async (): Promise<Source> => {
      const hub = { source, split: split.trim() || 'train' };
      const { uploadId } = await client.imports.download(hub);
      return { uploadId, name: `${source}, ${hub.split}`, hub };
    },
    onSuccess: onSource,
  });
  return (
    <Panel title="Hugging Face Hub">
      <SubmitForm className={classes.hub} onSubmit={() => preview.mutate()}>
        <TextInput
          label="Dataset"
          description="owner/name, owner/name/config, with @revision if it isn't the newest"
          placeholder="openai/gsm8k/main"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={300}
        />
        <TextInput
          label="Split"
          description="train, test …"
          value={split}
          onChange={({ currentTarget }) => setSplit(currentTarget.value)}
          maxLength={100}
        />
        <div className={classes.buttons}>
          <Button type="submit" variant="default" disabled={name.trim() === ''} loading={preview.isPending}>
            Preview
          </Button>
          <Button disabled={name.trim() === ''} loading={download.isPending} onClick={() => download.mutate()}>
            Download
          </Button>
        </div>
      </SubmitForm>
      {preview.error !== null && <Failed what="There is no preview" error={preview.error} />}
      {download.error !== null && <Failed what="The dataset was not downloaded" error={download.error} />}
      {preview.data !== undefined && <Rows preview={preview.data} />}
    </Panel>
  );
}

function Rows({ preview: { splits, config, split, columns, rows } }: { readonly preview: HubPreview }) {
  return (
    <div className={classes.scrolling}>
      <p className="soft">
        {config}/{split}; it has {splits.map((one) => `${one.config}/${one.split}`).join(', ')}
      </p>
      <Table aria-label="First rows">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, ROWS).map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            <Table.Tr key={i}>
              {columns.map((column) => (
                <Table.Td key={column}>{cell(row[column])}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
