/** What a folder contains: folders to go into, files to choose. */
import { IconFile, IconFolder } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useRef } from 'react';
import type { FolderEntry, ListedFolder } from '../../../main/api/contract/index.ts';
import { DistinctName } from '../DistinctName.tsx';
import { bytes, number } from '../format.ts';
import { PlainButton } from '../PlainButton.tsx';
import { type NameParts, tellApart } from '../tell-apart.ts';
import { useRows } from '../use-rows.ts';
import classes from './FolderBrowser.module.css';
import type { Wanted } from './wanted.ts';

const ROW = 28;

export interface FolderListProps {
  readonly listed: ListedFolder;
  readonly wanted: Wanted;
  readonly filter: string;
  readonly onOpen: (path: string) => void;
  readonly onFile: (path: string) => void;
}

export function FolderList({ listed: { entries, more }, wanted, filter, onOpen, onFile }: FolderListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => tellApart(entries.map(({ name }) => name)), [entries]);
  const rows = useRows({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => entries[index]?.path ?? index,
    overscan: 8,
    reservedHeight: window.innerHeight - 240,
  });
  return (
    <>
      <div ref={scroller} className={classes.list}>
        {entries.length === 0 && <p className={classes.nothing}>{nothing(wanted, filter)}</p>}
        <ul style={{ height: rows.getTotalSize() }} aria-label="Content of the folder" onKeyDown={byArrows}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const entry = entries[index];
            return (
              entry !== undefined && (
                <li key={key} style={{ height: ROW, transform: `translateY(${start}px)` }}>
                  <Entry
                    entry={entry}
                    parts={parts(entry.name)}
                    word={wanted.sign?.word}
                    onChoose={entry.isFolder ? onOpen : onFile}
                  />
                </li>
              )
            );
          })}
        </ul>
      </div>
      {more > 0 && <p className={classes.more}>{number(more)} more are not shown. Filter to find them.</p>}
    </>
  );
}

interface EntryProps {
  readonly entry: FolderEntry;
  readonly parts: NameParts;
  readonly word: string | undefined;
  readonly onChoose: (path: string) => void;
}

function Entry({ entry: { name, path, isFolder, isWanted, bytes: size }, parts, word, onChoose }: EntryProps) {
  const Icon = isFolder ? IconFolder : IconFile;
  return (
    <PlainButton className={classes.entry ?? ''} title={name} onClick={() => onChoose(path)}>
      <Icon size={15} stroke={1.6} aria-hidden="true" />
      <span>
        <DistinctName parts={parts} />
      </span>
      {isWanted && word !== undefined && <span className={classes.wanted}>{word}</span>}
      {size !== null && <span className="faint num">{bytes(size)}</span>}
    </PlainButton>
  );
}

function nothing({ what, endings = [] }: Wanted, filter: string): string {
  if (filter !== '') return `Nothing here has “${filter}” in its name.`;
  return what === 'folder' || endings.length === 0
    ? 'There are no folders in it.'
    : `There are no folders in it, and no files that end in ${endings.join(', ')}.`;
}

/** The arrows go from row to row, as Tab does. */
function byArrows(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' } as const;
  const to = event.key in step ? step[event.key as keyof typeof step] : null;
  if (to === null || !(event.target instanceof HTMLElement)) return;
  event.preventDefault();
  event.target.closest('li')?.[to]?.querySelector('button')?.focus();
}
