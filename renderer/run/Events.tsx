/** The run's events, newest first, with what to do about them. */

import { Button } from '@mantine/core';
import { memo, useState } from 'react';
import { markerSign } from '../charts/overlays.ts';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Run.module.css';
import type { TimelineEntry } from './timeline.ts';

/** Shown initially; a troubled run may have thousands. */
const FEW = 100;

export interface EventsProps {
  readonly entries: readonly TimelineEntry[];
  readonly isEnded: boolean;
}

export const Events = memo(function Events({ entries, isEnded }: EventsProps) {
  const [all, setAll] = useState(false);
  const shown = all ? entries : entries.slice(0, FEW);
  return (
    <Panel title="Events">
      {entries.length === 0 && <p className="soft">{isEnded ? 'No events' : 'No events yet'}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <ol className={classes.events} tabIndex={0} aria-label="Events, newest first">
        {shown.map((entry) => (
          <Entry key={entry.key} entry={entry} />
        ))}
        {shown.length < entries.length && (
          <li className={classes.more}>
            <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)}>
              Show all {entries.length}
            </Button>
          </li>
        )}
      </ol>
    </Panel>
  );
});

function Entry({ entry: { step, at, kind, name, message, remedy } }: { readonly entry: TimelineEntry }) {
  const [sign, colour] = markerSign(kind);
  const [first = '', ...rest] = message.split('\n');
  return (
    <li>
      <span className={classes.sign} style={{ color: `var(--${colour})` }} aria-hidden="true">
        {sign}
      </span>
      <span className="num faint">{step}</span>
      <div>
        <strong>{name}</strong> {first}
        {rest.length > 0 && <pre className="mono">{rest.join('\n')}</pre>}
        {remedy !== null && <p className="soft">{remedy}</p>}
      </div>
      <span className="faint">
        <When at={at} />
      </span>
    </li>
  );
}
