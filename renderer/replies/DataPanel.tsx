/** The records: the bundled sample, or a JSONL that was dropped, chosen or pasted. */
import { Button } from '@mantine/core';
import { IconClipboardText } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReplyDesk } from '../../main/services/replies/desk.ts';
import { client } from '../api/client.ts';
import { ChooseFile } from '../components/ChooseFile.tsx';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { checked, type Dropped, droppedIn, pasted } from '../texts/dropped.ts';
import classes from './Replies.module.css';

export function DataPanel({ data }: { readonly data: ReplyDesk['data'] }) {
  const [over, setOver] = useState(false);
  const bring = useMutation({ mutationFn: bringIn });
  const sample = useMutation({ mutationFn: () => client.replies.takeSample() });
  return (
    <Panel
      title="Posts with their replies"
      actions={
        <>
          <ChooseFile
            label="Reply records to import"
            accept=".jsonl,.ndjson,.json"
            loading={bring.isPending}
            onChoose={(file) => bring.mutate(Promise.resolve(checked([{ name: file.name, content: file }])))}
          >
            Import JSONL …
          </ChooseFile>
          <Button
            variant="default"
            leftSection={<IconClipboardText size={14} aria-hidden="true" />}
            onClick={() => bring.mutate(fromClipboard())}
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
          bring.mutate(Promise.resolve(droppedIn(event.dataTransfer)));
        }}
      >
        <p>
          <strong>{data.bundled ? 'The bundled sample' : data.name}</strong>:{' '}
          <span className="num">{data.records}</span> pairs to train on, <span className="num">{data.heldOut}</span>{' '}
          held out for the comparison.
        </p>
        <p className="soft">
          {data.bundled
            ? 'Written for this purpose, with made engagement counts. Drop a file here to use your own: one record a line, id, post, reply, engagement {likes, reposts, replies}.'
            : 'A tenth of its posts is held out. Drop another file here to take its place.'}
        </p>
        {!data.there && (
          <p role="alert" className={classes.gone}>
            Their files are gone. Import them again, or go back to the bundled sample.
          </p>
        )}
        {!data.bundled && (
          <Button variant="default" loading={sample.isPending} onClick={() => sample.mutate()}>
            Back to the bundled sample
          </Button>
        )}
      </div>
      {bring.error !== null && <Failed what="Nothing was imported" error={bring.error} />}
      {sample.error !== null && <Failed what="The sample was not taken" error={sample.error} />}
    </Panel>
  );
}

async function bringIn(coming: Promise<Dropped>): Promise<void> {
  const dropped = await coming;
  if (dropped.kind === 'refused') throw new Error(dropped.reason);
  if (dropped.kind === 'nothing') throw new Error('There is neither a file nor a text in it.');
  const [file, ...more] = dropped.files;
  if (file === undefined || more.length > 0)
    throw new Error(`Expected one file of reply records, got ${dropped.files.length}.`);
  await client.replies.import(file);
}

/** A browser may refuse the clipboard to a button. */
async function fromClipboard(): Promise<Dropped> {
  try {
    const text = await navigator.clipboard.readText();
    return text.trim() === '' ? { kind: 'refused', reason: 'The clipboard holds no text.' } : checked([pasted(text)]);
  } catch {
    return {
      kind: 'refused',
      reason: 'The browser keeps the clipboard to itself. Save the records as a file instead.',
    };
  }
}
