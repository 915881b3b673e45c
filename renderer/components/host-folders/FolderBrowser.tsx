/** Browses the folders of the machine that runs Braid, in a dialog or panel; asks once for a folder that isn't open. */
import { Button, TextInput } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { api } from '../../api/client.ts';
import { Failed, Loading } from '../Feedback.tsx';
import { IconButton } from '../IconButton.tsx';
import { AllowFolder } from './AllowFolder.tsx';
import classes from './FolderBrowser.module.css';
import { FolderList } from './FolderList.tsx';
import type { Wanted } from './wanted.ts';

export interface FolderBrowserProps {
  readonly wanted: Wanted;
  /** Where to start. */
  readonly start: string;
  /** When a folder that was asked for is open. */
  readonly onAllowed?: () => void;
  readonly onChoose: (path: string) => void;
  readonly onClose: () => void;
}

export function FolderBrowser({ wanted, start, onAllowed, onChoose, onClose }: FolderBrowserProps) {
  const [path, setPath] = useState(start);
  const [filter, setFilter] = useState('');
  const asked = useDeferredValue(filter);
  const input = { path, endings: [...(wanted.endings ?? [])], sign: wanted.sign?.file ?? null, filter: asked };
  const { data, error, refetch } = useQuery(
    api.folders.browse.queryOptions({
      input,
      staleTime: 0,
      gcTime: 0,
      retry: false,
      placeholderData: keepPreviousData,
    }),
  );
  const go = (next: string): void => {
    setPath(next);
    setFilter('');
  };
  const listed = error === null && data?.kind === 'listed' ? data : null;
  return (
    <section className={classes.browser} aria-label="Folders on the machine that runs Braid">
      <Places at={listed?.folder ?? null} onGo={go} />
      {listed !== null && (
        <div className={classes.head}>
          <IconButton
            aria-label="Folder above"
            disabled={listed.parent === null}
            onClick={() => go(listed.parent ?? '/')}
          >
            <IconArrowUp size={14} aria-hidden="true" />
          </IconButton>
          <code className={classes.folder} title={listed.folder}>
            <bdi>{listed.folder}</bdi>
          </code>
          <TextInput
            aria-label="Filter this folder"
            placeholder="Filter"
            value={filter}
            onChange={({ currentTarget }) => setFilter(currentTarget.value)}
            // Enter would send the form around it.
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
        </div>
      )}
      {error !== null && <Failed what="This folder can't be shown" error={error} />}
      {error === null && data === undefined && <Loading what="the folder" />}
      {error === null && data?.kind === 'outside' && (
        <AllowFolder
          {...data}
          path={path}
          onAllow={() => {
            onAllowed?.();
            void refetch();
          }}
          onRefuse={onClose}
        />
      )}
      {listed !== null && (
        <>
          <FolderList {...{ listed, wanted, filter: asked }} onOpen={go} onFile={onChoose} />
          <div className={classes.foot}>
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            {wanted.what !== 'file' && (
              <Button variant="light" onClick={() => onChoose(listed.folder)}>
                Use this folder
              </Button>
            )}
          </div>
        </>
      )}
    </section>
  );
}

interface PlacesProps {
  readonly at: string | null;
  readonly onGo: (path: string) => void;
}

function Places({ at, onGo }: PlacesProps) {
  const { data } = useQuery(api.folders.places.queryOptions({ staleTime: 0 }));
  if (data === undefined) return null;
  const { workspace, home, allowed } = data;
  const places = [
    { label: 'Workspace', path: workspace },
    { label: 'Home', path: home },
    ...allowed
      .filter((folder) => folder !== home && folder !== workspace)
      .map((path) => ({ label: lastPart(path), path })),
  ];
  return (
    <nav className={classes.places} aria-label="Places">
      {places.map(({ label, path }) => (
        <Button
          key={path}
          size="compact-sm"
          variant={path === at ? 'light' : 'default'}
          title={path}
          onClick={() => onGo(path)}
        >
          {label}
        </Button>
      ))}
    </nav>
  );
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}
