/** The records: the bundled sample, or a JSONL file that was dropped, chosen or pasted. */
import { Button } from '@mantine/core';
import { IconClipboardText } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReplyDesk } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { ChooseFile } from '../components/ChooseFile.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { checked, type Dropped, droppedIn, pasted } from '../texts/dropped.ts';
import classes from './Replies.module.css';

export function DataPanel({ data }: { readonly data: ReplyDesk['data'] }) {
  const [over, setOver] = useState(false);
  const importFile = useMutation({ mutationFn: importDropped });
  const sample = useMutation({ mutationFn: () => client.replies.takeSample() });
  return (
    <Panel
      title="Posts and replies"
      actions={
        <>
          <ChooseFile
            label="Reply records to import"
            accept=".jsonl,.ndjson,.json"
            loading={importFile.isPending}
            onChoose={(file) => importFile.mutate(Promise.resolve(checked([{ name: file.name, content: file }])))}
          >
            Import JSONL …
          </ChooseFile>
          <Button
            variant="default"
            leftSection={<IconClipboardText size={14} aria-hidden="true" />}
            onClick={() => importFile.mutate(fromClipboard())}
          >
            Paste
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a drop is a shortcut for the buttons above */}
      <div
        className={classes.drop}
        data-over={over || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          importFile.mutate(Promise.resolve(droppedIn(event.dataTransfer)));
        }}
      >
        <p>
          <strong>{data.bundled ? 'The bundled sample' : data.name}</strong>:{' '}
          <span className="num">{counted(data.records, 'training pair')}</span>,{' '}
          <span className="num">{data.heldOut}</span> held out for the comparison
        </p>
        <p className="soft">
          {data.bundled
            ? 'Written for this app, with made-up engagement counts. To use your own records, drop a JSONL file here: one record per line with id, post, reply and engagement {likes, reposts, replies}.'
            : 'A tenth of its posts is held out. Drop another file here to replace it.'}
        </p>
        {!data.there && (
          <p role="alert" className={classes.gone}>
            The files are missing. Import them again, or use the bundled sample.
          </p>
        )}
        {!data.bundled && (
          <Button variant="default" loading={sample.isPending} onClick={() => sample.mutate()}>
            Use the bundled sample
          </Button>
        )}
      </div>
      {importFile.error !== null && <Failed what="Nothing was imported" error={importFile.error} />}
      {sample.error !== null && <Failed what="The bundled sample could not be selected" error={sample.error} />}
    </Panel>
  );
}

async function importDropped(coming: Promise<Dropped>): Promise<void> {
  const dropped = await coming;
  if (dropped.kind === 'refused') throw new Error(dropped.reason);
  if (dropped.kind === 'nothing') throw new Error('There was neither a file nor text to import.');
  const [file, ...more] = dropped.files;
  if (file === undefined || more.length > 0)
    throw new Error(`Import one file of reply records at a time, not ${dropped.files.length}.`);
  await client.replies.import(file);
}

/** A browser may deny a button access to the clipboard. */
async function fromClipboard(): Promise<Dropped> {
  try {
    const text = await navigator.clipboard.readText();
    return text.trim() === ''
      ? { kind: 'refused', reason: 'The clipboard contains no text.' }
      : checked([pasted(text)]);
  } catch {
    return {
      kind: 'refused',
      reason: 'The browser denied access to the clipboard. Save the records to a file and import that.',
    };
  }
}
