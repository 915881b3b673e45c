/**
 * A chart's legend with the values under the hover line. Written directly to the DOM, as hovering would re-render React
 * too often.
 */
import type { Ref } from 'react';
import { DistinctName } from '../components/DistinctName.tsx';
import { tellApart } from '../components/tell-apart.ts';
import classes from './LineChart.module.css';
import { type EventMarker, eventsAt, type PlaceOf } from './markers.ts';
import { type Aligned, type ChartSeries, countAt, valueAt } from './series.ts';

export function Legend({
  series,
  ref,
}: {
  readonly series: readonly ChartSeries[];
  readonly ref: Ref<HTMLDivElement>;
}) {
  const parts = tellApart(series.map(({ label }) => label));
  return (
    <div className={classes.legend} ref={ref}>
      <dl>
        {series.map(({ id, label, colour, look = 'line' }) => (
          <div key={id}>
            <dt>
              <span className={classes.swatch} data-look={look} style={{ color: `var(--${colour})` }} />
              <DistinctName parts={parts(label)} />
            </dt>
            <dd className="mono" data-part="value" />
          </div>
        ))}
      </dl>
      <span className={classes.at} data-part="at" />
    </div>
  );
}

export interface ReadoutContent {
  readonly aligned: Aligned;
  /** Index of the hovered point; null for the newest. */
  readonly index: number | null;
  readonly series: readonly ChartSeries[];
  readonly markers: readonly EventMarker[];
  readonly placeOf: PlaceOf;
  readonly xName: string;
  readonly format: (value: number) => string;
  /** Whether the newest values are shown while nothing is hovered. */
  readonly showsLast: boolean;
}

/** Writes the values into a legend and returns them as a sentence. */
export function writeReadout(legend: HTMLElement | null, content: ReadoutContent): string {
  const { aligned, index, series, markers, placeOf, xName, format, showsLast } = content;
  const last = aligned.x.length - 1;
  const at = aligned.x[index ?? last];
  const texts = aligned.values.map((values) => {
    const value = valueAt(values, index ?? last);
    return value === null ? '–' : format(value);
  });
  const events = index === null || at === undefined ? null : eventsAt(markers, at, placeOf);
  const count = at === undefined ? 1 : countAt(series, at);
  const mean = count === 1 ? null : `mean of ${count} ${xName}s`;
  const where = at === undefined ? '' : [`${xName} ${at}`, mean, events].filter((part) => part !== null).join(' · ');
  if (legend !== null) {
    const head = legend.querySelector('[data-part="at"]');
    if (head !== null) head.textContent = index === null ? (showsLast && mean) || '' : where;
    for (const [i, cell] of [...legend.querySelectorAll('[data-part="value"]')].entries()) {
      cell.textContent = index === null && !showsLast ? '' : (texts[i] ?? '');
    }
  }
  return [where, ...series.map(({ label }, i) => `${label} ${texts[i]}`)].join(', ');
}
