/** A uPlot chart kept in sync with React props: recreated when its structure changes, otherwise only given new data. */
import { type RefObject, useCallback, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import uPlot from 'uplot';
import { IsReport } from '../components/is-report.ts';
import { IsPrerendering } from '../frame/is-prerendering.ts';
import type { ChartGroupValue } from './ChartGroup.tsx';
import { onColoursChange } from './colours.ts';
import type { PlaceOf } from './markers.ts';
import { plotOptions } from './options.ts';
import { type Overlays, overlayPlugin } from './overlays.ts';
import type { Aligned, ChartSeries, Column } from './series.ts';
import type { YRange } from './y-range.ts';

export interface PlotProps {
  readonly series: readonly ChartSeries[];
  readonly columns: readonly Column[];
  readonly aligned: Aligned;
  readonly log: boolean;
  readonly stacked: boolean;
  readonly height: number;
  readonly inView: readonly number[];
  readonly overlays: Overlays;
  readonly range: YRange;
  readonly format: (value: number) => string;
  readonly group: Pick<ChartGroupValue, 'syncKey' | 'range' | 'setRange'>;
  /** Called when the point under the hover line changes; null for none. */
  readonly onHover: (index: number | null, placeOf: PlaceOf) => void;
  readonly onPick: ((x: number) => void) | undefined;
}

/** A press that moves less than this is a click. */
const CLICK_PX = 4;

/** Charts farther than this from the viewport are created when the user scrolls towards them. */
const NEAR_PX = 200;

/** Width while prerendering, as a chart outside the document has none. */
const PRERENDER_PX = 400;

/** Draws into the element; returns the plot for keyboard control. */
export function usePlot(host: RefObject<HTMLDivElement | null>, props: PlotProps): RefObject<uPlot | null> {
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const inSight = useRef(true);
  /** As it was drawn last; null: not yet. */
  const lastWidth = useRef<number | null>(null);
  const isStale = useRef(false);
  const isPrerendering = useContext(IsPrerendering);
  // What is printed is drawn wherever it stands.
  const isReport = useContext(IsReport);
  const feed = useCallback((made: uPlot, data: Aligned) => {
    isStale.current = false;
    made.setData(dataOf(data));
  }, []);
  const { series, columns, aligned, log, stacked, height, overlays, inView, range, group } = props;
  const shape = JSON.stringify([series.map(({ id, colour, look }) => [id, colour, look]), columns, log, stacked]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` covers everything that can't be changed on an existing plot
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const { onHover: _, ...setup } = latest.current;
    const options = plotOptions({
      ...setup,
      syncKey: group.syncKey,
      format: (value) => latest.current.format(value),
      zoom: () => zoomOf(latest.current),
      inView: () => latest.current.inView,
      fixed: () => latest.current.range,
      plugins: [overlayPlugin(() => latest.current.overlays), pointerPlugin(latest)],
    });
    const make = (width: number): uPlot => {
      const size = { width, height: latest.current.height };
      isStale.current = false;
      lastWidth.current = width;
      plot.current = new uPlot({ ...options, ...size }, dataOf(latest.current.aligned), element);
      return plot.current;
    };
    if (isPrerendering) make(PRERENDER_PX);
    // Recreated, such as when a series or the smoothing arrives: without it there would be no chart until the next frame.
    else if (lastWidth.current !== null && inSight.current) make(lastWidth.current);
    // The observer reports the width during layout; reading it here would force one layout per chart.
    const resized = new ResizeObserver(() => {
      const width = Math.max(50, element.clientWidth);
      if (plot.current === null) {
        if (isReport || isNear(element)) make(width);
      } else if (width !== plot.current.width) {
        lastWidth.current = width;
        plot.current.setSize({ width, height: latest.current.height });
      }
    });
    resized.observe(element);
    const seen = new IntersectionObserver(
      (entries) => {
        inSight.current = entries.at(-1)?.isIntersecting ?? true;
        if (!inSight.current) return;
        if (plot.current === null) make(Math.max(50, element.clientWidth));
        else if (isStale.current) feed(plot.current, latest.current.aligned);
      },
      { rootMargin: `${NEAR_PX}px` },
    );
    seen.observe(element);
    const stop = onColoursChange(() => plot.current?.redraw(false));
    return () => {
      stop();
      resized.disconnect();
      seen.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [host, shape, group.syncKey, isPrerendering]);

  // A chart out of view is not redrawn at every step, only when it comes into view.
  useLayoutEffect(() => {
    if (plot.current === null) return;
    if (inSight.current) feed(plot.current, aligned);
    else isStale.current = true;
  }, [aligned, feed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the range functions read `range` and `inView` when scales are set
  useLayoutEffect(() => {
    const { x = [] } = latest.current.aligned;
    plot.current?.setScale('x', { min: x[0] ?? 0, max: x.at(-1) ?? 1 });
  }, [group.range, range, inView.join()]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn from `latest`
  useEffect(() => plot.current?.redraw(false), [overlays]);
  useLayoutEffect(() => {
    const { current } = plot;
    if (current !== null && current.height !== height) current.setSize({ width: current.width, height });
  }, [height]);
  return plot;
}

function isNear(element: HTMLElement): boolean {
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && top < window.innerHeight + NEAR_PX && bottom > -NEAR_PX;
}

function zoomOf({ group: { range } }: PlotProps): readonly [number, number] | null {
  return range === null ? null : [range.from, range.to];
}

function dataOf({ x, columns }: Aligned): uPlot.AlignedData {
  // uPlot only reads them, but its types require mutable arrays.
  return [x, ...columns] as unknown as uPlot.AlignedData;
}

/** Hover updates the readout, a click picks, a drag zooms, a double click resets the zoom. */
function pointerPlugin(latest: { readonly current: PlotProps }): uPlot.Plugin {
  return {
    hooks: {
      setCursor: (plot) => latest.current.onHover(plot.cursor.idx ?? null, (at) => plot.valToPos(at, 'x')),
      setSelect: (plot) => {
        const { left, width } = plot.select;
        if (width < CLICK_PX) return;
        const range = { from: plot.posToVal(left, 'x'), to: plot.posToVal(left + width, 'x') };
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        if (range.to - range.from >= 1) latest.current.group.setRange(range);
      },
      ready: ({ over, ...plot }) => {
        let pressedAt = 0;
        over.addEventListener('mousedown', ({ clientX }) => {
          pressedAt = clientX;
        });
        over.addEventListener('click', ({ clientX }) => {
          const { onPick, aligned } = latest.current;
          const at = aligned.x[plot.cursor.idx ?? -1];
          if (Math.abs(clientX - pressedAt) < CLICK_PX && at !== undefined) onPick?.(at);
        });
        over.addEventListener('dblclick', () => latest.current.group.setRange(null));
      },
    },
  };
}
