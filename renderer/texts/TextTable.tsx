/** The corpus as a virtualized table. */
import { Checkbox } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { type FocusEvent, useCallback, useMemo, useRef } from 'react';
import type { TextHeading } from '../../main/api/contract/index.ts';
import { DistinctName } from '../components/DistinctName.tsx';
import { number } from '../components/format.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { tellApart } from '../components/tell-apart.ts';
import { useRows } from '../components/use-rows.ts';
import { When } from '../components/When.tsx';
import { useKeys } from '../frame/keys.tsx';
import { StageTicks } from './StageTicks.tsx';
import { nextOrder, type TextColumn, type TextOrder } from './sorting.ts';
import classes from './TextTable.module.css';

export interface TextTableProps {
  readonly texts: readonly TextHeading[];
  readonly order: TextOrder;
  readonly selected: ReadonlySet<number>;
  /** Ids on the test side of the split; null while loading. */
  readonly testing: readonly number[] | null;
  readonly emptyText: string;
  readonly onOrder: (order: TextOrder) => void;
  readonly onSelect: (selected: ReadonlySet<number>) => void;
  readonly onOpen: (id: number) => void;
  readonly onRemove: (id: number) => void;
}

const ROW = 30;

export function TextTable(props: TextTableProps) {
  const { texts, selected, testing, onSelect, onOpen, onRemove } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const lastPicked = useRef(0);
  const testIds = useMemo(() => (testing === null ? null : new Set(testing)), [testing]);
  const parts = useMemo(() => tellApart(texts.map(({ title }) => title)), [texts]);
  const rows = useRows({
    count: texts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    reservedHeight: 200,
  });

  const pick = useCallback(
    (index: number, range: boolean): void => {
      const next = new Set(selected);
      const on = !next.has(texts[index]?.id ?? 0);
      const from = range ? Math.min(lastPicked.current, index) : index;
      const to = range ? Math.max(lastPicked.current, index) : index;
      for (const { id } of texts.slice(from, to + 1)) on ? next.add(id) : next.delete(id);
      lastPicked.current = index;
      onSelect(next);
    },
    [texts, selected, onSelect],
  );
  const onFocus = useTableKeys(scroller, texts, { pick, remove: onRemove, show: (index) => rows.scrollToIndex(index) });

  const items = rows.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = rows.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label="Texts">
      <table className={classes.table} aria-rowcount={texts.length + 1}>
        <Head {...props} />
        <tbody onFocus={onFocus}>
          {before > 0 && <tr style={{ height: before }} />}
          {items.map(({ index, key }) => {
            const text = texts[index];
            if (text === undefined) return null;
            return (
              <tr key={key} aria-rowindex={index + 2} data-selected={selected.has(text.id) || undefined}>
                <td>
                  <Checkbox
                    aria-label={`Select ${text.title}`}
                    checked={selected.has(text.id)}
                    onChange={() => undefined}
                    onClick={({ shiftKey }) => pick(index, shiftKey)}
                  />
                </td>
                <td>
                  <PlainButton className={classes.title} data-row={index} onClick={() => onOpen(text.id)}>
                    <DistinctName parts={parts(text.title)} />
                    {text.tags.map((tag) => (
                      <span key={tag} className={classes.tag}>
                        {tag}
                      </span>
                    ))}
                  </PlainButton>
                </td>
                <td className="mono">{number(text.words)}</td>
                <td className="soft">{text.source}</td>
                <td>
                  <StageTicks words={text.words} />
                </td>
                <td className="soft">{testIds === null ? '' : testIds.has(text.id) ? 'test' : 'train'}</td>
                <td className="soft">
                  <When at={text.addedAt} />
                </td>
              </tr>
            );
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
      {texts.length === 0 && <p className={classes.nothing}>{props.emptyText}</p>}
    </section>
  );
}

const columns: readonly (readonly [TextColumn | null, string, string])[] = [
  ['title', 'Title', ''],
  ['words', 'Words', ''],
  ['source', 'Source', ''],
  [null, 'Stages', 'Curriculum stages that the text is long enough for: 10, 25, 50, 100, 200, 500 words'],
  [
    null,
    'Split',
    'Its side of the split: training and test pairs never share a text. Decided with the first dataset, and kept',
  ],
  ['addedAt', 'Added', ''],
];

function Head({ texts, selected, order, onOrder, onSelect }: TextTableProps) {
  const all = texts.length > 0 && texts.every(({ id }) => selected.has(id));
  const some = !all && texts.some(({ id }) => selected.has(id));
  return (
    <thead>
      <tr>
        <th scope="col">
          <Checkbox
            aria-label="Select all shown"
            checked={all}
            indeterminate={some}
            onChange={() => onSelect(all ? new Set() : new Set(texts.map(({ id }) => id)))}
          />
        </th>
        {columns.map(([by, name, help]) => {
          const here = by !== null && order.by === by;
          const direction = order.descending ? 'descending' : 'ascending';
          return (
            <th key={name} scope="col" title={help} aria-sort={here ? direction : undefined}>
              {by === null ? (
                name
              ) : (
                <PlainButton className={classes.sort} onClick={() => onOrder(nextOrder(order, by))}>
                  {name}
                  {here && (order.descending ? <IconArrowDown size={12} /> : <IconArrowUp size={12} />)}
                </PlainButton>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface TableActs {
  readonly pick: (index: number, range: boolean) => void;
  readonly remove: (id: number) => void;
  readonly show: (index: number) => void;
}

/** J and K move from title to title; other keys act on the one with the focus. */
function useTableKeys(
  scroller: { readonly current: HTMLElement | null },
  texts: readonly TextHeading[],
  acts: TableActs,
): (event: FocusEvent<HTMLElement>) => void {
  const now = useRef({ texts, acts });
  // Keys may arrive faster than the focus moves.
  const current = useRef(-1);
  now.current = { texts, acts };
  useKeys(
    useMemo(() => {
      const at = (): number => current.current;
      const go = (step: number): void => {
        const index = Math.max(0, Math.min(now.current.texts.length - 1, at() + step));
        current.current = index;
        now.current.acts.show(index);
        // The row exists once the scroll has rendered; another key may have moved on by then.
        requestAnimationFrame(() => {
          if (at() === index) scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus();
        });
      };
      const withText = (act: (index: number, id: number) => void) => () => {
        const text = now.current.texts[at()];
        if (text !== undefined) act(at(), text.id);
      };
      return [
        { key: 'j', label: 'Next text', run: () => go(1) },
        { key: 'k', label: 'Previous text', run: () => go(-1) },
        { key: 'x', label: 'Select the text', run: withText((index) => now.current.acts.pick(index, false)) },
        { key: 'Delete', label: 'Delete the text', run: withText((_, id) => now.current.acts.remove(id)) },
      ];
    }, [scroller]),
  );
  return (event) => {
    const row = event.target.closest('tr')?.querySelector<HTMLElement>('[data-row]')?.dataset.row;
    if (row !== undefined) current.current = Number(row);
  };
}
