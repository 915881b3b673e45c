/** The table of runs, virtualized. j and k move through it, x selects, Enter opens. */
import { Menu } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { memo, useMemo, useRef } from 'react';
import { counted, score } from '../components/format.ts';
import { lastCall } from '../components/last-call.ts';
import { MoreMenu } from '../components/MoreMenu.tsx';
import { PlainButton } from '../components/PlainButton.tsx';
import { tellApart } from '../components/tell-apart.ts';
import { useRows } from '../components/use-rows.ts';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { RunCell } from './RunCells.tsx';
import classes from './Runs.module.css';
import type { ListView } from './remembered-view.ts';
import { type ColumnId, columns, nextSorting, type Sorting, sortRows } from './run-columns.ts';
import { groupRows, type RunGroup, runIds } from './run-groups.ts';
import { isLive, type RunRowView } from './run-rows.ts';
import { useRowKeys } from './use-row-keys.ts';
import { useSparklines } from './use-sparklines.ts';

export interface RunTableProps {
  readonly rows: readonly RunRowView[];
  readonly view: ListView;
  /** The columns shown. */
  readonly shown: readonly ColumnId[];
  readonly selected: ReadonlySet<number>;
  readonly emptyText: string;
  readonly onSelect: (id: number) => void;
  /** Replaces the selection. */
  readonly onSelectAll: (ids: readonly number[]) => void;
  readonly onSort: (sorting: Sorting | null) => void;
  readonly onAct: (kind: 'rename' | 'delete', run: RunRowView) => void;
}

const ROW = 34;

const partsOf = lastCall(tellApart);

/** A line of the table: a run, or the heading of a group. */
type TableLine =
  | { readonly kind: 'run'; readonly run: RunRowView; readonly index: number }
  | { readonly kind: 'group'; readonly group: RunGroup };

function linesOf(rows: readonly RunRowView[], groupBy: ListView['groupBy']): readonly TableLine[] {
  let index = 0;
  const lineOf = (run: RunRowView): TableLine => ({ kind: 'run', run, index: index++ });
  if (groupBy === 'none') return rows.map(lineOf);
  return groupRows(rows, groupBy).flatMap((group) => [{ kind: 'group', group }, ...group.rows.map(lineOf)]);
}

export function RunTable({
  rows,
  view,
  shown,
  selected,
  emptyText,
  onSelect,
  onSelectAll,
  onSort,
  onAct,
}: RunTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { sorting } = view;
  const lines = useMemo(() => linesOf(sortRows(rows, sorting), view.groupBy), [rows, sorting, view.groupBy]);
  const sorted = useMemo(() => lines.flatMap((line) => (line.kind === 'run' ? line.run : [])), [lines]);
  const parts = useMemo(() => partsOf(rows.map(({ name }) => name)), [rows]);
  const headers = columns.filter(({ id }) => shown.includes(id));
  const virtual = useRows({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    // Rows beyond the visible ones are rendered once those are shown.
    overscan: useWhenIdle() ? 4 : 0,
    // The upper third first, where reading starts; the others follow a frame later.
    reservedHeight: window.innerHeight / 1.5,
  });
  const items = virtual.getVirtualItems();
  const sparks = useSparklines(
    items.flatMap(({ index }) => {
      const line = lines[index];
      return line?.kind === 'run' ? line.run.id : [];
    }),
  );
  useRowKeys(scroller, {
    ids: sorted.map(({ id }) => id),
    show: (index) => virtual.scrollToIndex(lines.findIndex((line) => line.kind === 'run' && line.index === index)),
    select: onSelect,
  });
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section ref={scroller} className={classes.scroller} aria-label="Runs">
      <table
        className={classes.table}
        aria-rowcount={lines.length + 1}
        data-chosen={view.columns !== null || undefined}
      >
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                className={classes.select}
                aria-label="Select all runs shown"
                checked={rows.length > 0 && rows.every(({ id }) => selected.has(id))}
                onChange={({ currentTarget }) => onSelectAll(currentTarget.checked ? runIds(sorted) : [])}
              />
            </th>
            {headers.map(({ id, header, by }) => {
              const direction = sorting?.column === id ? sorting.direction : undefined;
              return (
                <th key={id} scope="col" data-column={id} aria-sort={direction}>
                  {by === undefined ? (
                    header
                  ) : (
                    <PlainButton className={classes.sort} onClick={() => onSort(nextSorting(sorting, id))}>
                      {header}
                      {direction === 'ascending' && <IconArrowUp size={12} aria-hidden="true" />}
                      {direction === 'descending' && <IconArrowDown size={12} aria-hidden="true" />}
                    </PlainButton>
                  )}
                </th>
              );
            })}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr style={{ height: before }} />}
          {items.map(({ index, key }) => {
            const line = lines[index];
            if (line === undefined) return null;
            if (line.kind === 'group') return <GroupRow key={key} group={line.group} columns={shown.length + 2} />;
            const { run } = line;
            return (
              <Row
                key={key}
                row={index}
                index={line.index}
                run={run}
                columns={shown}
                spark={sparks[run.id]}
                shared={parts(run.name).start.length}
                isSelected={selected.has(run.id)}
                onSelect={onSelect}
                onAct={onAct}
              />
            );
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
      {sorted.length === 0 && <p className={classes.nothing}>{emptyText}</p>}
    </section>
  );
}

interface GroupRowProps {
  readonly group: RunGroup;
  readonly columns: number;
}

function GroupRow({ group: { title, rows, heldOut }, columns: span }: GroupRowProps) {
  const count = counted(rows.length, 'run');
  return (
    <tr>
      <th scope="rowgroup" colSpan={span} className={classes.group}>
        {title} <span className="faint">{count}</span>
        {heldOut !== null && (
          <span className="num faint">
            {' '}
            · held-out {score(heldOut.mean)}
            {heldOut.std !== null && ` ± ${score(heldOut.std)} (n = ${heldOut.n})`}
          </span>
        )}
      </th>
    </tr>
  );
}

interface RowProps {
  /** Of the line in the table. */
  readonly row: number;
  /** Of the run among those shown. */
  readonly index: number;
  readonly columns: readonly ColumnId[];
  readonly run: RunRowView;
  readonly spark: readonly number[] | undefined;
  readonly shared: number;
  readonly isSelected: boolean;
  readonly onSelect: (id: number) => void;
  readonly onAct: RunTableProps['onAct'];
}

const Row = memo(function Row({ row, index, columns, run, spark, shared, isSelected, onSelect, onAct }: RowProps) {
  // Also in another process, and while its process is exiting.
  const isTraining = isLive(run);
  return (
    <tr aria-rowindex={row + 2} data-selected={isSelected || undefined}>
      <td>
        <input
          type="checkbox"
          className={classes.select}
          aria-label={`Select ${run.name}`}
          checked={isSelected}
          onChange={() => onSelect(run.id)}
        />
      </td>
      {columns.map((column) => (
        <RunCell key={column} {...{ column, run, index, spark, shared }} />
      ))}
      <td>
        <MoreMenu label={`Actions for ${run.name}`}>
          {() => (
            <>
              <Menu.Item onClick={() => onAct('rename', run)}>Rename …</Menu.Item>
              <Menu.Item color="red" disabled={isTraining} onClick={() => onAct('delete', run)}>
                Delete …
              </Menu.Item>
            </>
          )}
        </MoreMenu>
      </td>
    </tr>
  );
});
