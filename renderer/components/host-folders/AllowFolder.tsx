/** Asks the user to open a folder of the host to Braid. */
import { Button } from '@mantine/core';
import { IconLockOpen } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { Failed } from '../Feedback.tsx';
import classes from './FolderBrowser.module.css';

export interface AllowFolderProps {
  /** As it was entered. */
  readonly path: string;
  /** What would be opened: where the links lead. */
  readonly folder: string;
  readonly question: string;
  readonly onAllow: () => void;
  readonly onRefuse: () => void;
}

export function AllowFolder({ path, folder, question, onAllow, onRefuse }: AllowFolderProps) {
  const allow = useMutation({
    mutationFn: () => client.folders.allow({ question }),
    onSuccess: ({ allowed }) => (allowed ? onAllow() : onRefuse()),
  });
  return (
    <section className={classes.question} aria-label="Permission for a folder">
      <p>
        <IconLockOpen size={16} aria-hidden="true" /> <strong>Open this folder to Braid?</strong>
      </p>
      <code>{folder}</code>
      {path.startsWith('/') && !isWithin(folder, path) && <p className="soft">{path} leads there.</p>}
      <p>
        Braid may then read what you choose in it, with the folders inside, and write exports to new folders in it. You
        are asked once; Settings lists open folders and closes them again.
      </p>
      {allow.error !== null && <Failed what="The folder was not opened" error={allow.error} />}
      <div className={classes.foot}>
        <Button variant="default" onClick={onRefuse}>
          Not now
        </Button>
        <Button loading={allow.isPending} onClick={() => allow.mutate()}>
          Allow
        </Button>
      </div>
    </section>
  );
}

function isWithin(folder: string, path: string): boolean {
  const plain = path.replace(/\/+$/, '');
  return plain === folder || plain.startsWith(`${folder}/`);
}
