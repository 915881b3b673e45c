/** Charts of one page that belong together: one hover line, one zoom, one smoothing. */
import { Button } from '@mantine/core';
import { createContext, type ReactNode, useContext, useId, useMemo, useState } from 'react';
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
  /** What is zoomed to; null: everything. */
  readonly range: ZoomRange | null;
  readonly setRange: (range: ZoomRange | null) => void;
  readonly smoothing: number;
  readonly setSmoothing: (smoothing: number) => void;
}

const ChartGroupContext = createContext<ChartGroupValue | null>(null);

/** Joins all charts inside it. */
export function ChartGroup({ children }: { readonly children: ReactNode }) {
  const value = useGroupState();
  return <ChartGroupContext value={value}>{children}</ChartGroupContext>;
}

/** The group around a chart; one of its own for a chart that stands alone. */
export function useChartGroup(): ChartGroupValue {
  const own = useGroupState();
  return useContext(ChartGroupContext) ?? own;
}

function useGroupState(): ChartGroupValue {
  const syncKey = useId();
  const [range, setRange] = useState<ZoomRange | null>(null);
  const [smoothing, setSmoothing] = useState(0);
  return useMemo(() => ({ syncKey, range, setRange, smoothing, setSmoothing }), [syncKey, range, smoothing]);
}

/** Smoothing for all charts of the group, and the way back from a zoom. */
export function ChartControls() {
  const { range, setRange, smoothing, setSmoothing } = useChartGroup();
  const keys = useMemo(
    () => (range === null ? [] : [{ key: 'z', label: 'Show all steps again', run: () => setRange(null) }]),
    [range, setRange],
  );
  useKeys(keys);
  return (
    <div className={classes.controls}>
      {range !== null && (
        <Button variant="default" onClick={() => setRange(null)}>
          Steps {Math.round(range.from)}–{Math.round(range.to)}: show all
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
