/** What happened, newest first, with what to do about it. */

import { markerSign } from '../charts/overlays.ts';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Run.module.css';
import type { TimelineEntry } from './timeline.ts';

export function Events({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  return (
    <Panel title="What happened">
      {entries.length === 0 && <p className="soft">Nothing yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <ol className={classes.events} tabIndex={0} aria-label="Events, newest first">
        {entries.map((entry) => (
          <Entry key={entry.key} entry={entry} />
        ))}
      </ol>
    </Panel>
  );
}

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
