/** Whether the held-out pairs are really held out, and what they share if not. */
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Leakage } from '../../main/api/contract/index.ts';
import { number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { leakageNouns } from '../components/leakage.ts';
import classes from './Records.module.css';

const SHOWN = 3;

interface LeakageNoteProps {
  readonly leakage: Leakage;
  readonly task?: string;
}

export function LeakageNote({ leakage, task = 'interleave' }: LeakageNoteProps) {
  if (leakage.clean) return <Clean task={task} />;
  const { shared_titles: titles, overlaps } = leakage;
  const [text, items] = leakageNouns(task);
  return (
    <Leaky
      task={task}
      list={
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
      }
    >
      {titles.length > 0 && `${number(titles.length)} ${text}s are on both sides. `}
      {overlaps.length > 0 &&
        `${number(overlaps.length)} test ${items} repeat eight or more words of training ${items}.`}
    </Leaky>
  );
}

/** Nothing is shared. */
export function Clean({ task }: { readonly task: string }) {
  return (
    <p className={classes.clean}>
      <IconShieldCheck size={15} aria-hidden="true" /> Held out: training and test share no {leakageNouns(task)[0]} and
      no sequence of eight words.
    </p>
  );
}

interface LeakyProps {
  readonly children: ReactNode;
  readonly task: string;
  /** Examples. */
  readonly list?: ReactNode;
}

/** Something is shared. */
export function Leaky({ children, list, task }: LeakyProps) {
  const fix =
    task === 'interleave' ? (
      <>
        To fix it, <Link href="/texts?similar">review the similar texts</Link>, keep one of each pair, then{' '}
        <Link href="/texts/make">make the dataset again</Link>.
      </>
    ) : (
      <>
        To fix it, import the records again with duplicates dropped, or with rows kept together by the column that they
        share.
      </>
    );
  return (
    <div className={classes.leaky}>
      <p>
        <IconAlertTriangle size={15} aria-hidden="true" /> Not held out: {children}
      </p>
      {list}
      <p className={classes.fix}>{fix}</p>
    </div>
  );
}
