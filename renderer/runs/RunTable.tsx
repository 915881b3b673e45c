/** The table of runs, virtualized. j and k move through it, x selects, Enter opens. */
import { Menu } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { memo, useMemo, useRef, useState } from 'react';
import { Sparkline } from '../charts/Sparkline.tsx';
import { duration, score, signed } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { MoreMenu } from '../components/MoreMenu.tsx';
import { PlainButton } from '../components/PlainButton.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { useRows } from '../components/use-rows.ts';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { When } from '../components/When.tsx';
import classes from './Runs.module.css';
import { columns, nextSorting, type Sorting, sortRows } from './run-columns.ts';
import type { RunRowView } from './run-rows.ts';
import { useRowKeys } from './use-row-keys.ts';
import { useSparklines } from './use-sparklines.ts';

export interface RunTableProps {
  readonly rows: readonly RunRowView[];
  readonly selected: readonly number[];
  readonly emptyText: string;
  readonly onSelect: (id: number) => void;
  /** Replaces the selection. */
  readonly onSelectAll: (ids: readonly number[]) => void;
  readonly onAct: (kind: 'rename' | 'delete', run: RunRowView) => void;
}

const ROW = 34;

export function RunTable({ rows, selected, emptyText, onSelect, onSelectAll, onAct }: RunTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const sorted = useMemo(() => sortRows(rows, sorting), [rows, sorting]);
  const virtual = useRows({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    // Rows beyond the visible ones are rendered once those are shown.
    overscan: useWhenIdle() ? 4 : 0,
    // The upper third first, where reading starts; the others follow a frame later.
    reservedHeight: window.innerHeight / 1.5,
  });
  const items = virtual.getVirtualItems();
  const sparks = useSparklines(items.flatMap(({ index }) => sorted[index]?.id ?? []));
  useRowKeys(scroller, {
    ids: sorted.map(({ id }) => id),
    show: (index) => virtual.scrollToIndex(index),
    select: onSelect,
  });
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section ref={scroller} className={classes.scroller} aria-label="Runs">
      <table className={classes.table} aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                className={classes.select}
                aria-label="Select all runs shown"
                checked={rows.length > 0 && rows.every(({ id }) => selected.includes(id))}
                onChange={({ currentTarget }) => onSelectAll(currentTarget.checked ? sorted.map(({ id }) => id) : [])}
              />
            </th>
            {columns.map(({ id, header, by }) => {
              const direction = sorting?.column === id ? sorting.direction : undefined;
              return (
                <th key={id} scope="col" data-column={id} aria-sort={direction}>
                  {by === undefined ? (
                    header
                  ) : (
                    <PlainButton className={classes.sort} onClick={() => setSorting(nextSorting(sorting, id))}>
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
            const run = sorted[index];
            if (run === undefined) return null;
            return (
              <Row
                key={key}
                index={index}
                run={run}
                spark={sparks[run.id]}
                isSelected={selected.includes(run.id)}
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

interface RowProps {
  readonly index: number;
  readonly run: RunRowView;
  readonly spark: readonly number[] | undefined;
  readonly isSelected: boolean;
  readonly onSelect: (id: number) => void;
  readonly onAct: RunTableProps['onAct'];
}

const Row = memo(function Row({ index, run, spark, isSelected, onSelect, onAct }: RowProps) {
  const isLive = run.secondsLeft !== null || run.state === 'starting' || run.state === 'stopping';
  return (
    <tr aria-rowindex={index + 2} data-selected={isSelected || undefined}>
      <td>
        <input
          type="checkbox"
          className={classes.select}
          aria-label={`Select ${run.name}`}
          checked={isSelected}
          onChange={() => onSelect(run.id)}
        />
      </td>
      <td className={classes.name}>
        <Link href={`/runs/${run.id}`} data-row={index} title={run.name}>
          {run.name}
        </Link>
      </td>
      <td title={run.reason ?? undefined}>
        <StateBadge state={run.state} />
      </td>
      <td className={classes.numbers}>
        <span
          className={classes.bar}
          style={{ backgroundSize: `${run.maxSteps === 0 ? 0 : (run.step / run.maxSteps) * 100}% 100%` }}
        />
        {run.step}/{run.maxSteps}
        {run.state === 'running' && run.secondsLeft !== null && (
          <span className="faint"> {duration(run.secondsLeft)}</span>
        )}
      </td>
      <td className={classes.spark}>
        <Sparkline values={spark ?? []} label={sparklineLabel(spark ?? [])} />
      </td>
      <td className={classes.numbers}>{score(run.reward)}</td>
      <td className={classes.numbers}>{score(run.heldOut)}</td>
      <td className={`${classes.numbers} ${classes.gain}`}>{run.gain === null ? '–' : signed(run.gain)}</td>
      <td className={classes.dataset} title={run.dataset}>
        {run.dataset}
      </td>
      <td className={classes.when}>
        <When at={run.createdAt} />
      </td>
      <td>
        <MoreMenu label={`Actions for ${run.name}`}>
          {() => (
            <>
              <Menu.Item onClick={() => onAct('rename', run)}>Rename …</Menu.Item>
              <Menu.Item color="red" disabled={isLive} onClick={() => onAct('delete', run)}>
                Delete …
              </Menu.Item>
            </>
          )}
        </MoreMenu>
      </td>
    </tr>
  );
});

function sparklineLabel(values: readonly number[]): string {
  if (values.length === 0) return 'No reward yet';
  return `Reward from ${score(values[0])} to ${score(values.at(-1))}`;
}
