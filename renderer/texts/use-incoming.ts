/**
 * The import in progress: dropped or pasted anywhere on the screen, chosen in the dialog, or opened on the desktop. The
 * host reads it at once.
 */
import { useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { ImportPreview } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { openedFiles, takeFiles } from '../frame/opened-files.ts';
import { type Dropped, droppedIn, type NamedContent } from './dropped.ts';
import { droppedWithFolders } from './dropped-folders.ts';

/** Contents from the page, or paths that the host was asked to open. */
type Wanted =
  | { readonly kind: 'contents'; readonly files: readonly NamedContent[] }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** How files are read; another choice reads them again. */
interface Options {
  readonly minWords: number;
  readonly splitAtHeadings: boolean;
}

export interface Incoming {
  readonly opened: boolean;
  readonly refused: string | null;
  /** What is being read or was read: "letters.json", "3 files"; null for nothing yet. */
  readonly what: string | null;
  /** The same object for as long as the same files are read, in whichever way. */
  readonly wanted: object | null;
  readonly reading: boolean;
  readonly preview: ImportPreview | null;
  readonly error: unknown;
  /** Minimum length of answers in chat exports, in words. */
  readonly minWords: number;
  /** Whether prose, Markdown and documents are split at their headings. */
  readonly splitAtHeadings: boolean;
  readonly open: () => void;
  readonly take: (dropped: Dropped) => void;
  /** Reads files and folders of the host. */
  readonly readPaths: (paths: readonly string[]) => void;
  readonly setMinWords: (words: number) => void;
  readonly setSplitAtHeadings: (split: boolean) => void;
  /** Goes back to choosing files. */
  readonly restart: () => void;
  readonly close: () => void;
}

const MIN_WORDS = 50;

export function useIncoming(): Incoming {
  const [opened, setOpened] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const [options, setOptions] = useState<Options>({ minWords: MIN_WORDS, splitAtHeadings: false });
  const { mutate, reset, data, error, isPending } = useMutation({ mutationFn: readOnHost });
  const pending = useRef<number | null>(null);
  pending.current = data?.importId ?? null;
  const reading = useRef(new AbortController());

  const read = useCallback(
    (next: Wanted | null, how: Options): void => {
      // The previous import won't be confirmed: the host can stop reading it and discard it.
      reading.current.abort();
      if (pending.current !== null) void client.texts.dropImport({ importId: pending.current }).catch(() => undefined);
      reset();
      setWanted(next);
      if (next === null) return;
      reading.current = new AbortController();
      mutate({ wanted: next, options: how, signal: reading.current.signal });
    },
    [reset, mutate],
  );
  const take = useCallback(
    (dropped: Dropped): void => {
      if (dropped.kind === 'nothing') return;
      setOpened(true);
      setRefused(dropped.kind === 'refused' ? dropped.reason : null);
      if (dropped.kind === 'files') read({ kind: 'contents', files: dropped.files }, options);
    },
    [read, options],
  );
  useEffect(() => listen(take), [take]);
  const waiting = useSyncExternalStore(openedFiles.subscribe, openedFiles.get);
  useEffect(() => {
    if (waiting.length === 0) return;
    setOpened(true);
    read({ kind: 'paths', paths: takeFiles() }, options);
  }, [waiting, read, options]);

  return useMemo(
    () => ({
      opened,
      refused,
      ...options,
      error,
      take,
      wanted,
      what: wanted === null ? null : inWords(wanted),
      reading: isPending,
      preview: data ?? null,
      open: () => setOpened(true),
      readPaths: (paths: readonly string[]) => {
        setRefused(null);
        read({ kind: 'paths', paths }, options);
      },
      setMinWords: (minWords: number) => {
        setOptions({ ...options, minWords });
        read(wanted, { ...options, minWords });
      },
      setSplitAtHeadings: (splitAtHeadings: boolean) => {
        setOptions({ ...options, splitAtHeadings });
        read(wanted, { ...options, splitAtHeadings });
      },
      restart: () => {
        setRefused(null);
        read(null, options);
      },
      close: () => {
        setOpened(false);
        setRefused(null);
        read(null, options);
      },
    }),
    [opened, refused, wanted, options, error, take, isPending, data, read],
  );
}

interface Reading {
  readonly wanted: Wanted;
  readonly options: Options;
  readonly signal: AbortSignal;
}

function readOnHost({ wanted, options, signal }: Reading) {
  if (wanted.kind === 'paths')
    return client.texts.openImportPaths({ paths: [...wanted.paths], ...options }, { signal });
  return client.texts.openImport({ files: [...wanted.files], ...options }, { signal });
}

function inWords(wanted: Wanted): string {
  const names = wanted.kind === 'paths' ? wanted.paths : wanted.files.map(({ name }) => name);
  return names.length === 1 ? (names[0] ?? '') : `${names.length} files`;
}

function isInField({ target }: Event): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea') !== null;
}

/** Text that is moved into or within a field is the field's; files never are. */
function movesText(event: DragEvent): boolean {
  return isInField(event) && event.dataTransfer?.types.includes('Files') !== true;
}

/** Drops and pastes anywhere, except text for a field. */
function listen(take: (dropped: Dropped) => void): () => void {
  const over = (event: DragEvent): void => {
    if (!movesText(event)) event.preventDefault();
  };
  const drop = (event: DragEvent): void => {
    if (movesText(event)) return;
    event.preventDefault();
    // The folders of a drop can be read only if that starts at once.
    if (event.dataTransfer !== null) void droppedWithFolders(event.dataTransfer).then(take);
  };
  const paste = (event: ClipboardEvent): void => {
    if (isInField(event) || event.clipboardData === null) return;
    event.preventDefault();
    take(droppedIn(event.clipboardData));
  };
  window.addEventListener('dragover', over);
  window.addEventListener('drop', drop);
  window.addEventListener('paste', paste);
  return () => {
    window.removeEventListener('dragover', over);
    window.removeEventListener('drop', drop);
    window.removeEventListener('paste', paste);
  };
}
