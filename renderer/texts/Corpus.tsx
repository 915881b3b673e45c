/** The corpus: every text with the stages that it is long enough for; import, merge, rename and delete. */
import { Button, CloseButton, Select, TextInput } from '@mantine/core';
import { IconArrowsDiff, IconFileImport, IconSearch, IconTextPlus } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { api, client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { selectedText } from '../components/selected-text.ts';
import { useKeys } from '../frame/keys.tsx';
import { FirstTexts } from './FirstTexts.tsx';
import { ImportDialog } from './ImportDialog.tsx';
import { LengthPanel } from './LengthPanel.tsx';
import { MergeDialog } from './MergeDialog.tsx';
import { RemoveTexts } from './RemoveTexts.tsx';
import { SimilarDialog } from './SimilarDialog.tsx';
import { SplitDialog } from './SplitDialog.tsx';
import { sortTexts, type TextOrder } from './sorting.ts';
import { TagTexts } from './TagTexts.tsx';
import { TextReader } from './TextReader.tsx';
import classes from './Texts.module.css';
import { TextsScreen } from './TextsScreen.tsx';
import { TextTable } from './TextTable.tsx';
import { tagsOf } from './tags.ts';
import { useIncoming } from './use-incoming.ts';

type Dialog =
  | { readonly kind: 'merge'; readonly ids: readonly number[] }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  | { readonly kind: 'tag'; readonly ids: readonly number[] }
  | { readonly kind: 'similar' }
  | { readonly kind: 'split'; readonly id: number; readonly title: string }
  | { readonly kind: 'read'; readonly id: number };

export function Corpus() {
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<TextOrder>({ by: 'addedAt', descending: false });
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const isAsked = new URLSearchParams(useSearch()).has('similar');
  const [dialog, setDialog] = useState<Dialog | null>(isAsked ? { kind: 'similar' } : null);
  const [notice, setNotice] = useState<Notice | null>(null);
  const [tag, setTag] = useState<string | null>(null);
  const incoming = useIncoming();
  const searchBox = useRef<HTMLInputElement>(null);
  const wanted = useDeferredValue(search.trim());
  const all = useQuery(api.texts.list.queryOptions({ input: {} }));
  const found = useQuery(
    api.texts.list.queryOptions({
      input: { search: wanted },
      placeholderData: keepPreviousData,
      enabled: wanted !== '',
    }),
  );
  const overview = useQuery(api.texts.overview.queryOptions({ input: {} }));
  // While the first search is under way, all texts stay.
  const listed = wanted === '' ? all.data : (found.data ?? all.data);
  const tags = useMemo(() => tagsOf(all.data ?? []), [all.data]);
  // A tag that no text has any more filters nothing.
  const wantedTag = tag !== null && tags.includes(tag) ? tag : null;
  const texts = useMemo(
    () =>
      sortTexts(
        (listed ?? []).filter((text) => wantedTag === null || text.tags.includes(wantedTag)),
        order,
      ),
    [listed, order, wantedTag],
  );
  const chosen = useMemo(() => (all.data ?? []).filter(({ id }) => selected.has(id)), [all.data, selected]);
  const ids = chosen.map(({ id }) => id);

  useKeys(
    useMemo(
      () => [
        { key: '/', label: 'Search', run: () => searchBox.current?.focus() },
        { key: 'i', label: 'Import texts', run: () => incoming.open() },
        { key: 'm', label: 'Merge texts', run: () => setDialog({ kind: 'merge', ids: chosen.map(({ id }) => id) }) },
        { key: 'a', label: 'Select all shown', run: () => setSelected(new Set(texts.map(({ id }) => id))) },
        { key: 'Escape', label: 'Select none', run: () => setSelected(new Set()) },
      ],
      [incoming.open, chosen, texts],
    ),
  );

  const close = (message?: string, merged: readonly number[] = []): void => {
    tell(message, merged.length === 0 ? null : { what: 'merge', ids: merged });
  };
  const tell = (message: string | undefined, undo: Undo | null): void => {
    setDialog(null);
    if (message === undefined) return;
    setNotice({ message, undo });
    // A new text may get the id of one that is gone.
    if (dialog?.kind !== 'tag') setSelected(new Set());
  };
  const dialogs = (
    <>
      <ImportDialog incoming={incoming} onDone={close} />
      {dialog?.kind === 'merge' && <MergeDialog texts={all.data ?? []} ids={dialog.ids} onClose={close} />}
      {dialog?.kind === 'remove' && (
        <RemoveTexts
          texts={all.data ?? []}
          ids={dialog.ids}
          onClose={(message, id) => tell(message, id === undefined ? null : { what: 'deletion', ids: [id] })}
        />
      )}
      {dialog?.kind === 'read' && (
        <TextReader
          id={dialog.id}
          onClose={close}
          onRemove={() => setDialog({ kind: 'remove', ids: [dialog.id] })}
          onSplit={(title) => setDialog({ kind: 'split', id: dialog.id, title })}
        />
      )}
      {dialog?.kind === 'split' && <SplitDialog id={dialog.id} title={dialog.title} onClose={close} />}
      {dialog?.kind === 'similar' && <SimilarDialog onClose={close} />}
      {dialog?.kind === 'tag' && <TagTexts texts={chosen} onClose={close} />}
    </>
  );
  const actions = (
    <>
      <Button
        variant="default"
        leftSection={<IconArrowsDiff size={14} />}
        disabled={(all.data?.length ?? 0) < 2}
        onClick={() => setDialog({ kind: 'similar' })}
      >
        Similar texts …
      </Button>
      <Button
        variant="default"
        leftSection={<IconTextPlus size={14} />}
        disabled={(all.data?.length ?? 0) < 2}
        onClick={() => setDialog({ kind: 'merge', ids })}
      >
        Merge …
      </Button>
      <Button leftSection={<IconFileImport size={14} />} onClick={() => incoming.open()}>
        Import …
      </Button>
    </>
  );
  const unlisted = all.error !== null && (
    <Failed what="The texts can't be listed" error={all.error} onRetry={() => void all.refetch()} />
  );
  // Texts that are known stay, and with them a text that is being edited.
  if (all.data === undefined) return <TextsScreen>{unlisted || <Loading what="the texts" />}</TextsScreen>;
  if (all.data.length === 0)
    return (
      <TextsScreen actions={actions}>
        <FirstTexts onImport={() => incoming.open()} />
        {dialogs}
      </TextsScreen>
    );
  return (
    <TextsScreen actions={actions}>
      {unlisted}
      <div className={classes.corpus}>
        <Panel className={classes.tablePanel ?? ''}>
          <div className={classes.toolbar}>
            <TextInput
              ref={searchBox}
              w={260}
              aria-label="Search titles, sources and words"
              placeholder="Search titles, sources and words"
              leftSection={<IconSearch size={14} />}
              value={search}
              onChange={({ currentTarget }) => setSearch(currentTarget.value)}
              rightSection={
                search !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => setSearch('')} />
              }
            />
            {tags.length > 0 && (
              <Select
                w={150}
                aria-label="Filter by tag"
                placeholder="All tags"
                clearable
                data={tags}
                value={wantedTag}
                onChange={setTag}
              />
            )}
            <Selection texts={texts} all={all.data.length} chosen={chosen} onSelect={setSelected} />
            {ids.length > 0 && (
              <>
                <Button variant="default" disabled={ids.length < 2} onClick={() => setDialog({ kind: 'merge', ids })}>
                  Merge these …
                </Button>
                <Button variant="default" onClick={() => setDialog({ kind: 'tag', ids })}>
                  Tag …
                </Button>
                <Button variant="default" onClick={() => setDialog({ kind: 'remove', ids })}>
                  Delete …
                </Button>
              </>
            )}
          </div>
          {wanted !== '' && found.error !== null && (
            <Failed what="The texts can't be searched" error={found.error} onRetry={() => void found.refetch()} />
          )}
          <TextTable
            {...{ texts, order, selected }}
            testing={overview.data?.testing ?? null}
            onOrder={setOrder}
            onSelect={setSelected}
            onOpen={(id) => setDialog({ kind: 'read', id })}
            // A selection elsewhere isn't what the focus is on.
            onRemove={(id) => setDialog({ kind: 'remove', ids: selected.has(id) ? ids : [id] })}
            emptyText={emptyText(wanted, wantedTag)}
          />
        </Panel>
        <LengthPanel overview={overview} onMerge={() => setDialog({ kind: 'merge', ids: [] })} />
      </div>
      <p className={classes.told} role="status">
        {notice !== null && <Told notice={notice} onChange={setNotice} />}
      </p>
      {dialogs}
    </TextsScreen>
  );
}

/** Merged texts, or the id of a deletion. */
interface Undo {
  readonly what: 'merge' | 'deletion';
  readonly ids: readonly number[];
}

/** What was done, and how it is undone. */
interface Notice {
  readonly message: string;
  readonly undo: Undo | null;
}

interface ToldProps {
  readonly notice: Notice;
  readonly onChange: (notice: Notice | null) => void;
}

function Told({ notice: { message, undo: way }, onChange }: ToldProps) {
  const undo = useMutation({
    mutationFn: async ({ what, ids }: Undo) => {
      for (const id of ids)
        await (what === 'merge' ? client.texts.undoJoin({ id }) : client.texts.undoRemove({ removalId: id }));
    },
    onSuccess: (_, { what }) => onChange({ message: `The ${what} was undone.`, undo: null }),
    onError: (error, { what }) =>
      onChange({ message: `The ${what} was not undone. ${failureOf(error).message}`, undo: null }),
  });
  return (
    <>
      {message}{' '}
      {way !== null && (
        <Button variant="default" size="compact-xs" loading={undo.isPending} onClick={() => undo.mutate(way)}>
          Undo
        </Button>
      )}
      <CloseButton size="xs" aria-label="Dismiss" onClick={() => onChange(null)} />
    </>
  );
}

function emptyText(search: string, tag: string | null): string {
  if (search === '') return '';
  return tag === null ? `No text contains “${search}”` : `No text with the tag “${tag}” contains “${search}”`;
}

interface SelectionProps {
  readonly texts: readonly { readonly id: number }[];
  readonly all: number;
  readonly chosen: readonly { readonly id: number; readonly words: number }[];
  readonly onSelect: (selected: ReadonlySet<number>) => void;
}

/** The number of texts shown or, with a selection, selected. */
function Selection({ texts, all, chosen, onSelect }: SelectionProps) {
  if (chosen.length === 0)
    return (
      <span className={`${classes.count} num soft`}>
        {texts.length === all ? counted(all, 'text') : `${number(texts.length)} of ${counted(all, 'text')}`}
      </span>
    );
  const words = chosen.reduce((sum, text) => sum + text.words, 0);
  return (
    <span className={`${classes.count} num`}>
      {selectedText(chosen, texts)}, {counted(words, 'word')}
      <CloseButton size="xs" aria-label="Select none" onClick={() => onSelect(new Set())} />
    </span>
  );
}
