/**
 * A parallel-coordinates plot whose axes filter: drag along an axis, or move its two handles with the arrow keys. The
 * list that it filters is its alternative as a table.
 */
import { Button } from '@mantine/core';
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { counted, number } from '../components/format.ts';
import classes from './ParallelCoordinates.module.css';
import {
  axisOf,
  type Brush,
  brushed,
  endText,
  movedEnd,
  nameLines,
  type ParallelAxis,
  type ParallelRow,
} from './parallel.ts';

export interface ParallelProps {
  /** Names of the axes; the last one is the result, which colours the lines. */
  readonly axes: readonly string[];
  readonly rows: readonly ParallelRow[];
  /** Receives the rows inside all brushes whenever those change. */
  readonly onFilter?: (ids: readonly number[] | null) => void;
}

const HEIGHT = 232;
/** Two lines of a name, and half a handle. */
const TOP = 42;
const LINE = 14;
const BOTTOM = 12;
/** Room for an axis with its labels; the last one's are to its right. */
const NARROWEST = 140;
/** As many characters as always fit in that. */
const LONGEST_LINE = 18;
const LEFT = 24;
const RIGHT = 120;
/** A shorter drag is a click, which clears the brush. */
const SHORTEST = 0.02;

const y = (at: number): number => TOP + (1 - at) * (HEIGHT - TOP - BOTTOM);

export function ParallelCoordinates({ axes: names, rows, onFilter }: ParallelProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [brushes, setBrushes] = useState<Readonly<Record<string, Brush>>>({});
  const axes = useMemo(
    () =>
      names.map((name, i) =>
        axisOf(
          name,
          rows.map(({ values }) => values[i] ?? null),
        ),
      ),
    [names, rows],
  );
  const inside = useMemo(() => new Set(brushed(rows, axes, brushes).map(({ id }) => id)), [rows, axes, brushes]);
  // A brush on an axis that is no longer shown filters nothing.
  const isFiltering = names.some((name) => name in brushes);
  useEffect(() => onFilter?.(isFiltering ? [...inside] : null), [inside, isFiltering, onFilter]);
  useEffect(() => () => onFilter?.(null), [onFilter]);
  const change = (name: string, brush: Brush | null): void => {
    const rest = Object.fromEntries(Object.entries(brushes).filter(([other]) => other !== name));
    setBrushes(brush === null ? rest : { ...rest, [name]: brush });
  };
  const clear = (): void => setBrushes({});
  const room = useWidth(scroller);
  const column = Math.max(NARROWEST, (room - LEFT - RIGHT) / Math.max(1, axes.length - 1));
  const x = (axis: number): number => LEFT + axis * column;
  const width = x(axes.length - 1) + RIGHT;
  const drawn = rows.toSorted((a, b) => Number(inside.has(a.id)) - Number(inside.has(b.id)));
  return (
    <section
      className={classes.plot}
      aria-label={`${counted(rows.length, 'run')} across ${names.join(', ')}; the table lists the same values`}
    >
      <div ref={scroller} className={classes.scroller}>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: its handles have names, and the section around it has one */}
        <svg width={width} height={HEIGHT}>
          <g>
            {drawn.map((row) => (
              <path
                key={row.id}
                className={classes.line}
                d={pathOf(axes, row, x)}
                data-outside={inside.has(row.id) ? undefined : true}
                style={inside.has(row.id) ? { stroke: colourOf(axes.at(-1), row) } : undefined}
              >
                <title>{row.name}</title>
              </path>
            ))}
          </g>
          {axes.map((axis, i) => (
            <Axis
              key={axis.name}
              axis={axis}
              at={x(i)}
              values={rows.map(({ values }) => values[i] ?? null)}
              brush={brushes[axis.name] ?? null}
              onBrush={(brush) => change(axis.name, brush)}
            />
          ))}
        </svg>
      </div>
      <p className={classes.foot} role="status">
        {inside.size === rows.length ? (
          <span className="faint">Drag along an axis to filter, or use the arrow keys on its handles.</span>
        ) : (
          <>
            <span className="num">
              {number(inside.size)} of {counted(rows.length, 'run')}
            </span>
            <Button variant="default" size="compact-sm" onClick={clear}>
              Clear the filter
            </Button>
          </>
        )}
      </p>
    </section>
  );
}

/** The width of an element, as it changes. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = element.current;
    if (node === null) return;
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    observer.observe(node);
    setWidth(node.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

interface AxisProps {
  readonly axis: ParallelAxis;
  readonly at: number;
  readonly values: ParallelRow['values'];
  readonly brush: Brush | null;
  readonly onBrush: (brush: Brush | null) => void;
}

function Axis({ axis, at, values, brush, onBrush }: AxisProps) {
  const from = useRef<number | null>(null);
  const area = useRef<SVGRectElement>(null);
  const [low, high] = brush ?? [0, 1];
  const lines = nameLines(axis.name, LONGEST_LINE);
  const placeOf = (clientY: number): number => {
    const top = area.current?.getBoundingClientRect().top ?? 0;
    return Math.min(1, Math.max(0, 1 - (clientY - top) / (HEIGHT - TOP - BOTTOM)));
  };
  return (
    <g transform={`translate(${at}, 0)`}>
      <text className={classes.name}>
        {lines.map((line, i) => (
          <tspan key={line} x={0} y={2 * LINE - LINE * (lines.length - 1 - i)}>
            {line}
          </tspan>
        ))}
      </text>
      <line className={classes.axis} y1={y(0)} y2={y(1)} />
      <g>
        {axis.ticks.map((tick) => (
          <text key={tick.label} className={classes.tick} x={8} y={y(tick.at) + 4}>
            {tick.label}
          </text>
        ))}
      </g>
      {brush !== null && <rect className={classes.brush} x={-6} width={12} y={y(high)} height={y(low) - y(high)} />}
      <rect
        ref={area}
        className={classes.area}
        x={-12}
        width={24}
        y={TOP}
        height={HEIGHT - TOP - BOTTOM}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = placeOf(event.clientY);
        }}
        onPointerMove={(event) => {
          if (from.current === null) return;
          const to = placeOf(event.clientY);
          if (Math.abs(to - from.current) >= SHORTEST)
            onBrush([Math.min(from.current, to), Math.max(from.current, to)]);
        }}
        onPointerUp={(event) => {
          if (from.current !== null && Math.abs(placeOf(event.clientY) - from.current) < SHORTEST) onBrush(null);
          from.current = null;
        }}
      />
      {(['low', 'high'] as const).map((end) => {
        const place = end === 'low' ? low : high;
        return (
          <rect
            key={end}
            className={classes.handle}
            data-moved={brush !== null || undefined}
            x={-7}
            width={14}
            y={y(place) - 3}
            height={6}
            rx={2}
            role="slider"
            tabIndex={0}
            aria-orientation="vertical"
            aria-label={`${axis.name}: ${end === 'low' ? 'from' : 'up to'}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(100 * place)}
            aria-valuetext={endText(axis, values, place)}
            onKeyDown={(event) => {
              const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
              if (event.key === 'Escape') onBrush(null);
              else if (by !== 0) onBrush(movedEnd(axis, [low, high], end, by));
              else return;
              event.preventDefault();
              event.stopPropagation();
            }}
          />
        );
      })}
    </g>
  );
}

/** A line through a row's values, broken where it has none. */
function pathOf(axes: readonly ParallelAxis[], row: ParallelRow, x: (axis: number) => number): string {
  let pen = 'M';
  return axes
    .map((axis, i) => {
      const at = axis.place(row.values[i] ?? null);
      if (at === null) {
        pen = 'M';
        return '';
      }
      const part = `${pen}${x(i)},${y(at).toFixed(1)}`;
      pen = 'L';
      return part;
    })
    .join('');
}

function colourOf(result: ParallelAxis | undefined, row: ParallelRow): string {
  const at = result?.place(row.values.at(-1) ?? null) ?? null;
  if (at === null) return 'var(--line-strong)';
  return `color-mix(in oklab, var(--strand-a) ${Math.round(100 * at)}%, var(--strand-b))`;
}
