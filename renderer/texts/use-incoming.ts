/** What is being imported: dropped or pasted anywhere on the screen, or chosen in the dialog; read by the host at once. */
import { useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ImportPreview } from '../../main/services/library/imports.ts';
import { api, client } from '../api/client.ts';
import { type Dropped, droppedIn, type NamedContent } from './dropped.ts';

export interface Incoming {
  readonly opened: boolean;
  readonly refused: string | null;
  readonly files: readonly NamedContent[];
  readonly reading: boolean;
  readonly preview: ImportPreview | null;
  readonly error: unknown;
  /** Of chat exports, answers of at least so many words. */
  readonly minWords: number;
  readonly open: () => void;
  readonly take: (dropped: Dropped) => void;
  readonly setMinWords: (words: number) => void;
  /** Back to the choice of files. */
  readonly restart: () => void;
  readonly close: () => void;
}

const MIN_WORDS = 50;

export function useIncoming(): Incoming {
  const [opened, setOpened] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [files, setFiles] = useState<readonly NamedContent[]>([]);
  const [minWords, setMinWords] = useState(MIN_WORDS);
  const { mutate, reset, data, error, isPending } = useMutation(api.texts.openImport.mutationOptions());
  const held = useRef<number | null>(null);
  held.current = data?.importId ?? null;

  /** The host need not keep what nobody will confirm. */
  const letGo = useCallback((): void => {
    if (held.current !== null) void client.texts.dropImport({ importId: held.current }).catch(() => undefined);
    held.current = null;
    reset();
  }, [reset]);
  const read = useCallback(
    (wanted: readonly NamedContent[], words: number): void => {
      letGo();
      setFiles(wanted);
      if (wanted.length > 0) mutate({ files: [...wanted], minWords: words });
    },
    [letGo, mutate],
  );
  const take = useCallback(
    (dropped: Dropped): void => {
      if (dropped.kind === 'nothing') return;
      setOpened(true);
      setRefused(dropped.kind === 'refused' ? dropped.reason : null);
      if (dropped.kind === 'files') read(dropped.files, minWords);
    },
    [read, minWords],
  );
  useEffect(() => listen(take), [take]);

  return useMemo(
    () => ({
      ...{ opened, refused, files, minWords, error, take },
      reading: isPending,
      preview: data ?? null,
      open: () => setOpened(true),
      setMinWords: (words: number) => {
        setMinWords(words);
        read(files, words);
      },
      restart: () => {
        setRefused(null);
        read([], minWords);
      },
      close: () => {
        setOpened(false);
        setRefused(null);
        read([], minWords);
      },
    }),
    [opened, refused, files, minWords, error, take, isPending, data, read],
  );
}

/** Drops and pastes anywhere, but not into a field that is being written in. */
function listen(take: (dropped: Dropped) => void): () => void {
  const over = (event: DragEvent): void => event.preventDefault();
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    if (event.dataTransfer !== null) take(droppedIn(event.dataTransfer));
  };
  const paste = (event: ClipboardEvent): void => {
    const field = event.target instanceof HTMLElement && event.target.closest('input, textarea') !== null;
    if (field || event.clipboardData === null) return;
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
