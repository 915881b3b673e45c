/** The import dialog: choose files, preview, confirm. */
import { Button, Loader, Modal } from '@mantine/core';
import { IconClipboardText, IconFileImport, IconFolderOpen, IconServer } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { ImportPreview, IncomingText } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { FolderBrowser } from '../components/host-folders/FolderBrowser.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { checked, pasted } from './dropped.ts';
import { chosenFrom } from './dropped-folders.ts';
import styles from './Import.module.css';
import { ImportPreviewView } from './ImportPreview.tsx';
import { type ImportChoice, isDecided, keptChoice, noChoice } from './import-choice.ts';
import classes from './Texts.module.css';
import { TEXT_FILES } from './text-files.ts';
import type { Incoming } from './use-incoming.ts';

export interface ImportDialogProps {
  readonly incoming: Incoming;
  readonly onDone: (told: string) => void;
}

export function ImportDialog({ incoming, onDone }: ImportDialogProps) {
  const { opened, refused, reading, preview, error, what, wanted, close } = incoming;
  const [made, setMade] = useState<Made>({ wanted: null, texts: [], choice: noChoice });
  const choice = useMemo(() => choiceFor(made, wanted, preview), [made, wanted, preview]);
  const { ask, question } = useDiscardQuestion({ opened, isChanged: () => isDecided(choice), close });
  return (
    <>
      <Modal
        opened={opened}
        onClose={() => ask(close)}
        size={880}
        title="Import texts"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {refused !== null && <Failed what="This can't be imported" error={new Error(refused)} />}
        {error !== null && (
          <Failed what="The files could not be read; nothing was imported" error={error} onRetry={incoming.restart} />
        )}
        {what === null && <Choice incoming={incoming} />}
        {reading && <Reading what={what ?? ''} onCancel={incoming.restart} />}
        {preview !== null && (
          <ImportPreviewView
            key={preview.importId}
            {...{ preview, incoming, choice }}
            onChange={(next) => setMade({ wanted, texts: preview.texts, choice: next })}
            onRestart={() => ask(incoming.restart)}
            onDone={(told) => {
              close();
              onDone(told);
            }}
          />
        )}
      </Modal>
      {question}
    </>
  );
}

/** What the user chose, and about which texts of which files. */
interface Made {
  readonly wanted: Incoming['wanted'];
  readonly texts: readonly IncomingText[];
  readonly choice: ImportChoice;
}

/** Files that are read again, for other lengths for instance, keep what was chosen. */
function choiceFor(made: Made, wanted: Made['wanted'], preview: ImportPreview | null): ImportChoice {
  if (made.wanted !== wanted) return noChoice;
  return preview === null || preview.texts === made.texts
    ? made.choice
    : keptChoice(made.choice, made.texts, preview.texts);
}

interface ReadingProps {
  readonly what: string;
  readonly onCancel: () => void;
}

function Reading({ what, onCancel }: ReadingProps) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const progress = status?.jobs.find(({ kind, state }) => kind === 'import' && state === 'running')?.progress;
  return (
    <div className={styles.reading} role="status">
      <Loader size="xs" color="gray" />
      <span>
        Reading {what} and comparing with the corpus …{' '}
        {progress != null && progress.total > 1 && (
          <span className="soft num">
            {number(progress.done)} of {number(progress.total)} {progress.unit}
          </span>
        )}
      </span>
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

const HOST_FILES = { what: 'any', endings: TEXT_FILES.split(',') } as const;

function Choice({ incoming: { take, readPaths } }: { readonly incoming: Incoming }) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const [browsing, setBrowsing] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const folderChooser = useRef<HTMLInputElement>(null);
  return (
    <div className={styles.choice}>
      <p>Drop files, a folder or a .zip anywhere on this screen, or</p>
      <div className={classes.buttons}>
        <Button data-autofocus leftSection={<IconFileImport size={14} />} onClick={() => chooser.current?.click()}>
          Choose files …
        </Button>
        <Button
          variant="default"
          leftSection={<IconFolderOpen size={14} />}
          onClick={() => folderChooser.current?.click()}
        >
          Choose a folder …
        </Button>
        <Button
          variant="default"
          leftSection={<IconClipboardText size={14} />}
          onClick={() => void fromClipboard(take)}
        >
          Paste
        </Button>
        {info?.dialogs === false && (
          <Button
            variant="default"
            leftSection={<IconServer size={14} />}
            aria-expanded={browsing}
            onClick={() => setBrowsing(!browsing)}
          >
            On Braid’s machine …
          </Button>
        )}
      </div>
      {browsing && info !== undefined && (
        <div className={styles.browsing}>
          <FolderBrowser
            wanted={HOST_FILES}
            start={info.workspace}
            onChoose={(path) => readPaths([path])}
            onClose={() => setBrowsing(false)}
          />
        </div>
      )}
      <p className="soft">
        Prose, Markdown, HTML, Word and PDF documents, JSON, JSONL, and the folder or .zip of a chat export; pasted text
        is detected by its content. Nothing is imported until you confirm the preview.
      </p>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to import"
        accept={TEXT_FILES}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])].map((file) => ({ name: file.name, content: file }));
          if (files.length > 0) take(checked(files));
          currentTarget.value = '';
        }}
      />
      <input
        ref={folderChooser}
        type="file"
        // React's types don't have the attribute, which every browser knows.
        {...{ webkitdirectory: '' }}
        hidden
        aria-label="Folder to import"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          if (files.length > 0)
            take(chosenFrom(files.map((file) => ({ name: file.webkitRelativePath, content: file }))));
          currentTarget.value = '';
        }}
      />
    </div>
  );
}

/** A browser may deny a button access to the clipboard; the shortcut always works. */
async function fromClipboard(take: Incoming['take']): Promise<void> {
  try {
    const text = await navigator.clipboard.readText();
    take(text.trim() === '' ? { kind: 'refused', reason: 'The clipboard contains no text.' } : checked([pasted(text)]));
  } catch {
    take({ kind: 'refused', reason: 'The browser denied access to the clipboard. Press Ctrl+V (Cmd+V) instead.' });
  }
}
