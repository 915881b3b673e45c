/** The groups of a dry run, each as a bar from its lowest to its highest reward; a dead one is a point. */
import type { TrialReport } from '../../main/api/contract/index.ts';
import { counted, score } from '../components/format.ts';
import classes from './Trial.module.css';

export interface GroupBarsProps {
  readonly groups: TrialReport['groups'];
  readonly low: number;
  readonly high: number;
}

/** As many bars as can be distinguished. */
const MOST = 64;

export function GroupBars({ groups, low, high }: GroupBarsProps) {
  const shown = groups
    .toSorted((a, b) => a.mean - b.mean)
    .filter((_, i, all) => i % Math.ceil(all.length / MOST) === 0);
  const at = (value: number): number => ((value - low) / (high - low || 1)) * 100;
  return (
    <div className={classes.groups} role="img" aria-label={`Rewards of ${groups.length} groups, lowest to highest`}>
      {shown.map((group, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a record may be sampled twice in a step
        <Bar key={i} {...{ group, at }} />
      ))}
    </div>
  );
}

interface BarProps {
  readonly group: TrialReport['groups'][number];
  /** A reward's height in percent. */
  readonly at: (value: number) => number;
}

function Bar({ group: { recordId, step, n, lowest, highest, mean }, at }: BarProps) {
  const name = `${recordId}${step === null ? '' : `, step ${step}`}: ${counted(n, 'completion')}`;
  if (!Number.isFinite(lowest)) return <span className={classes.bar} title={`${name}, all failed`} />;
  const isDead = !(highest - lowest > 1e-9);
  const title = isDead ? `${name}, all ${score(mean)}` : `${name}, ${score(lowest)} to ${score(highest)}`;
  return (
    <span className={classes.bar} title={title} data-dead={isDead || undefined}>
      <i style={{ bottom: `${at(lowest)}%`, height: `max(3px, ${at(highest) - at(lowest)}%)` }} />
    </span>
  );
}
