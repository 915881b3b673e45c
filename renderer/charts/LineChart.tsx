/** A line chart with a title, a readout of the values under the hover line, and the same data as a table. */
import 'uplot/dist/uPlot.min.css';
import { type KeyboardEvent, type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { number } from '../components/format.ts';
import { Hint } from '../components/Hint.tsx';
import { useChartGroup } from './ChartGroup.tsx';
import { ChartTable } from './ChartTable.tsx';
import { ChartTools } from './ChartTools.tsx';
import { chartImage } from './chart-image.ts';
import classes from './LineChart.module.css';
import type { EventMarker, PlaceOf } from './markers.ts';
import type { ReferenceLine } from './overlays.ts';
import { Legend, writeReadout } from './Readout.tsx';
import { align, type ChartSeries, columnsOf } from './series.ts';
import { usePlot } from './use-plot.ts';
import { fromData, type YRange } from './y-range.ts';

export interface LineChartProps {
  readonly title: string;
  /** Of the title: below that of a panel, or in place of it. */
  readonly level?: 2 | 3;
  /** Unit, shown beside the title. */
  readonly unit?: string;
  /** What the chart means and how to read it, in one sentence; the title's tooltip. */
  readonly about?: string;
  /** Pass a stable array while nothing changes. */
  readonly series: readonly ChartSeries[];
  readonly lines?: readonly ReferenceLine[];
  readonly markers?: readonly EventMarker[];
  /** Values that the y axis always includes, such as 0 and 1. */
  readonly include?: readonly number[];
  readonly stacked?: boolean;
  readonly height?: number;
  /** What x counts: "step". */
  readonly xName?: string;
  readonly format?: (value: number) => string;
  /** Called on a click or Enter on a point. */
  readonly onPick?: (x: number) => void;
  /** Whether the legend shows the newest values while nothing is pointed at; of a curve over time they say where it is. */
  readonly showsLast?: boolean;
  /** The picked x, drawn as a line. */
  readonly picked?: number | null;
  /** Shown in place of a chart without points. */
  readonly empty?: ReactNode;
  readonly actions?: ReactNode;
}

/** What the hover line points at, and where steps are in the plot. */
interface Hovered {
  readonly index: number | null;
  readonly placeOf: PlaceOf;
}

const none: readonly never[] = [];

export function LineChart({
  title,
  level = 3,
  unit,
  about,
  series,
  lines = none,
  markers = none,
  include = none,
  stacked = false,
  height = 150,
  xName = 'step',
  showsLast = true,
  format = number,
  onPick,
  picked = null,
  empty = 'No values yet',
  actions,
}: LineChartProps) {
  const Heading = `h${level}` as const;
  const group = useChartGroup();
  const [log, setLog] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [range, setRange] = useState<YRange>(fromData);
  const host = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLDivElement>(null);
  const slider = useRef<HTMLDivElement>(null);
  const { smoothing } = group;
  const columns = useMemo(() => columnsOf(series, { smoothing, log, stacked }), [series, smoothing, log, stacked]);
  const aligned = useMemo(
    () => align(series, columns, { smoothing, log, stacked }),
    [series, columns, smoothing, log, stacked],
  );
  const overlays = useMemo(() => ({ lines, markers, picked }), [lines, markers, picked]);
  const inView = useMemo(
    () => [...include, ...lines.flatMap(({ value, isFar = false }) => (isFar ? [] : [value]))],
    [include, lines],
  );
  const hovered = useRef<Hovered>({ index: null, placeOf: (at) => at });
  const onHover = useCallback(
    (index: number | null, placeOf: PlaceOf) => {
      hovered.current = { index, placeOf };
      const content = { aligned, index, series, markers, placeOf, xName, format, showsLast };
      const text = writeReadout(readout.current, content);
      const at = aligned.x[index ?? aligned.x.length - 1];
      if (at !== undefined) slider.current?.setAttribute('aria-valuenow', String(at));
      slider.current?.setAttribute('aria-valuetext', text);
    },
    [aligned, series, markers, xName, format, showsLast],
  );
  useLayoutEffect(() => onHover(hovered.current.index, hovered.current.placeOf), [onHover]);
  const shown = !asTable && aligned.x.length > 0;
  const plot = usePlot(host, {
    series,
    columns,
    aligned,
    log,
    stacked,
    height,
    inView,
    overlays,
    range,
    format,
    group,
    onHover,
    onPick,
  });
  const image = (): Promise<Blob> => {
    const canvas = host.current?.querySelector('canvas');
    if (canvas == null) throw new Error('The chart is not drawn yet.');
    return chartImage(canvas, { title, unit, series });
  };

  const move = (event: KeyboardEvent): void => {
    const { current } = plot;
    const last = aligned.x.length - 1;
    const from = hovered.current.index ?? last;
    const to = moved(event, from, last);
    const at = aligned.x[from];
    if (event.key === 'Enter' && at !== undefined) onPick?.(at);
    if (to === null || current === null) return;
    event.preventDefault();
    event.stopPropagation();
    current.setCursor({ left: current.valToPos(aligned.x[to] ?? 0, 'x'), top: 1 });
  };

  return (
    <figure className={classes.chart}>
      <figcaption className={classes.head}>
        <Hint label={about}>
          <Heading>
            {title}
            {unit !== undefined && <span className="faint"> {unit}</span>}
          </Heading>
        </Hint>
        <Legend series={series} ref={readout} />
        <div className={classes.tools}>
          {actions}
          <ChartTools
            {...{ title, asTable, range, log: stacked ? null : log }}
            onLog={setLog}
            onTable={setAsTable}
            onRange={setRange}
            image={shown ? image : null}
          />
        </div>
      </figcaption>
      {asTable && (
        <ChartTable title={title} xName={xName} series={series} aligned={aligned} format={format} height={height} />
      )}
      {!asTable && aligned.x.length === 0 && (
        <div className={classes.empty} style={{ height }}>
          {empty}
        </div>
      )}
      <div
        ref={slider}
        className={classes.plot}
        hidden={!shown}
        role="slider"
        tabIndex={0}
        aria-label={`${title}, ${xName}${onPick === undefined ? '' : '; press Enter to open'}`}
        aria-valuemin={aligned.x[0] ?? 0}
        aria-valuemax={aligned.x.at(-1) ?? 0}
        aria-valuenow={aligned.x.at(-1) ?? 0}
        data-pick={onPick !== undefined || undefined}
        onKeyDown={move}
      >
        <div ref={host} style={{ height }} />
      </div>
    </figure>
  );
}

/** The index that a key moves the hover line to. */
function moved({ key, shiftKey }: KeyboardEvent, from: number, last: number): number | null {
  const stride = shiftKey ? 10 : 1;
  if (key === 'ArrowLeft') return Math.max(0, from - stride);
  if (key === 'ArrowRight') return Math.min(last, from + stride);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return null;
}
