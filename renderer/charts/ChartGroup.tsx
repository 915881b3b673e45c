/** A group of charts that share the hover line, zoom and smoothing. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useId, useMemo, useState } from 'react';
import { api } from '../api/client.ts';
import { Slider } from '../components/Slider.tsx';
import { useKeys } from '../frame/keys.tsx';
import classes from './LineChart.module.css';

export interface ZoomRange {
  readonly from: number;
  readonly to: number;
}

export interface ChartGroupValue {
  /** Charts with the same key share their hover line. */
  readonly syncKey: string;
  /** The zoomed range; null for everything. */
  readonly range: ZoomRange | null;
  readonly setRange: (range: ZoomRange | null) => void;
  readonly smoothing: number;
  readonly setSmoothing: (smoothing: number) => void;
}

const ChartGroupContext = createContext<ChartGroupValue | null>(null);

/** Groups the charts inside it. */
export function ChartGroup({ children }: { readonly children: ReactNode }) {
  const { data: settings } = useQuery(api.settings.get.queryOptions());
  const value = useGroupState(settings?.smoothing);
  return <ChartGroupContext value={value}>{children}</ChartGroupContext>;
}

/** The enclosing group, or a private one for a standalone chart. */
export function useChartGroup(): ChartGroupValue {
  const own = useGroupState();
  return useContext(ChartGroupContext) ?? own;
}

/** `usual` is the smoothing until the user moves the slider. */
function useGroupState(usual = 0): ChartGroupValue {
  const syncKey = useId();
  const [range, setRange] = useState<ZoomRange | null>(null);
  const [chosen, setSmoothing] = useState<number | null>(null);
  const smoothing = chosen ?? usual;
  return useMemo(() => ({ syncKey, range, setRange, smoothing, setSmoothing }), [syncKey, range, smoothing]);
}

/** The group's controls: smoothing, and resetting the zoom. */
export function ChartControls() {
  const { range, setRange, smoothing, setSmoothing } = useChartGroup();
  const keys = useMemo(
    () => (range === null ? [] : [{ key: 'z', label: 'Reset zoom', run: () => setRange(null) }]),
    [range, setRange],
  );
  useKeys(keys);
  return (
    <div className={classes.controls}>
      {range !== null && (
        <Button variant="default" onClick={() => setRange(null)}>
          Reset zoom (steps {Math.round(range.from)}–{Math.round(range.to)})
        </Button>
      )}
      <span id="smoothing" className="soft">
        Smoothing
      </span>
      <Slider aria-labelledby="smoothing" max={0.98} step={0.02} value={smoothing} onChange={setSmoothing} />
      <span className={`num soft ${classes.amount}`}>{smoothing === 0 ? 'off' : smoothing.toFixed(2)}</span>
    </div>
  );
}
