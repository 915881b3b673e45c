/** Whether the held-out pairs are really held out, and what they share if not. */
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react';
import type { Leakage } from '../../main/api/contract/index.ts';
import { number } from '../components/format.ts';
import classes from './Records.module.css';

const SHOWN = 3;

export function LeakageNote({ leakage }: { readonly leakage: Leakage }) {
  if (leakage.clean)
    return (
      <p className={classes.clean}>
        <IconShieldCheck size={15} aria-hidden="true" /> Held out: training and test share no text and no sequence of
        eight words.
      </p>
    );
  const { shared_titles: titles, overlaps } = leakage;
  return (
    <div className={classes.leaky}>
      <p>
        <IconAlertTriangle size={15} aria-hidden="true" /> Not held out:{' '}
        {titles.length > 0 && `${number(titles.length)} texts are on both sides. `}
        {overlaps.length > 0 && `${number(overlaps.length)} test pairs repeat eight or more words of training pairs.`}
      </p>
      <ul>
        {titles.slice(0, SHOWN).map((title) => (
          <li key={title}>“{title}” is on both sides</li>
        ))}
        {overlaps.slice(0, SHOWN).map(({ test_id, train_id, words }) => (
          <li key={test_id}>
            <span className="mono">{test_id}</span> and <span className="mono">{train_id}</span>: “{words}”
          </li>
        ))}
      </ul>
    </div>
  );
}
